import type { Compiler } from './compiler.ts'
import { freshName, type Lowered, type Node } from './schema.ts'
import { namesOf, takesNull } from './shape.ts'
import { boxOf, described, nullable, wrapping } from './value.ts'
import { describe } from './words.ts'

/** Lets null leave out a field. A field that may be null itself is wrapped, so that both can be said. */
export function leaveOut(own: Node, lowered: Lowered, compiler: Compiler): Lowered {
  if (!takesNull(lowered.schema, compiler)) {
    compiler.lose(own, 'required', 'nullable', 'null leaves it out')
    return nullable(lowered, compiler, true)
  }
  const key = freshName('value', namesOf(lowered.schema))
  const said = `null leaves it out, {"${key}": null} is null`
  compiler.lose(own, 'required', 'wrapped', said)
  const { description, ...schema } = lowered.schema
  const box = { ...boxOf({ [key]: schema }, compiler), type: ['object', 'null'] }
  return described(wrapping(lowered, key, box), describe(description, `${said}.`))
}
