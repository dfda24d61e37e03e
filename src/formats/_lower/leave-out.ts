import type { Compiler } from './compiler.ts'
import { freshName, type Lowered, type Schema } from './schema.ts'
import { namesOf, takesNull } from './shape.ts'
import { nullable, wrappedWith } from './value.ts'

/** Lets null leave out a field. A field that may be null itself is wrapped, so that both can be said. */
export function leaveOut(field: Schema, lowered: Lowered, compiler: Compiler): Lowered {
  if (!takesNull(lowered.schema, compiler)) {
    compiler.lose(field, 'required', 'nullable', 'null leaves it out')
    return nullable(lowered, compiler, true)
  }
  const key = freshName('value', namesOf(lowered.schema))
  const said = `null leaves it out, {"${key}": null} is null`
  compiler.lose(field, 'required', 'wrapped', said)
  const { schema, way } = wrappedWith(lowered, key, compiler, `${said}.`)
  return { schema: { ...schema, type: ['object', 'null'] }, way }
}
