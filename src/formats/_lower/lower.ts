import type { Dialect } from '../_dialects.ts'
import { array } from './array.ts'
import { distinct, isOn, read, type Compiler, type Reading, type Stack } from './compiler.ts'
import { beyond, measure } from './limits.ts'
import { annotations, flatten } from './merge.ts'
import { object, wrapping } from './object.ts'
import { fieldsOf, freshName, listOf, NoValue, Refusal, textOf } from './schema.ts'
import type { Lowered, LoweredSchema, Node, TypeName } from './schema.ts'
import { namesOf } from './shape.ts'
import { refines, union, unionOf } from './union.ts'
import { constants, described, free, nullable, scalar, speaksOf, text } from './value.ts'
import { alternativesSentence, describe } from './words.ts'

/** A schema that `$defs` has. It has no `lowered` while it is being made. */
interface Definition {
  readonly name: string
  lowered?: Lowered
}

/**
 * Lowers an input schema into a dialect: every value that fits the original can be said, except that fields without a
 * schema may be refused. Never throws: a schema that the dialect cannot take has the reason.
 *
 * @param root The input schema, as JSON.
 */
export function lower(root: Node, dialect: Dialect): LoweredSchema {
  try {
    const reading = read(root)
    const { schema, up, down } = compile(root, dialect, reading)
    const { losses } = reading
    const sums = measure(schema)
    const refused = beyond(sums, dialect.limits)
    if (refused !== undefined) throw new Refusal(refused)
    const { optional, unions } = sums
    // Without a loss, the schema goes out byte for byte.
    return { schema: losses.length === 0 ? root : schema, up, down, losses: distinct(losses), optional, unions }
  } catch (error) {
    const refused = error instanceof Refusal ? error.message : 'it is nested too deeply'
    return { schema: root, losses: [], refused, optional: 0, unions: 0 }
  }
}

function compile(original: Node, dialect: Dialect, reading: Reading): Lowered {
  const { root } = reading
  const definitions = new Map<Node, Definition>()
  const byReference = new Map<unknown, Definition>()
  const compiler: Compiler = {
    ...reading,
    dialect,
    lower: lowerNode,
    definitionOf: (schema) => byReference.get(schema['$ref'])?.lowered?.schema,
  }
  const lowered = rooted(lowerNode(root, undefined))
  const $defs = [...definitions.values()].flatMap(({ name, lowered: body }) =>
    body === undefined ? [] : [[name, body.schema] as const],
  )
  if ($defs.length === 0) return lowered
  return { ...lowered, schema: { ...lowered.schema, $defs: Object.fromEntries($defs) } }

  function lowerNode(node: Node, outer: Stack | undefined): Lowered {
    compiler.count()
    if (compiler.booleanOf(node) === false) throw new NoValue('no value fits it')
    const target = targetOf(node)
    if (target !== undefined) return reference(node, target, outer)
    const { node: flat, words, stack, isCycle } = flatten(node, compiler, outer)
    if (isCycle) return text(node, '$ref', compiler)
    const said = [...words]
    const made = lowerFlat(flat, stack, said)
    return told(made, describe(flat['description'], said))
  }

  /** Returns the target of a schema that is only a `$ref`, or an `allOf` of one. */
  function targetOf(node: Node): Node | undefined {
    const [keyword, ...others] = Object.keys(node).filter((name) => !annotations.has(name))
    if (others.length > 0) return undefined
    if (keyword === '$ref') return compiler.resolve(node['$ref'])
    const parts = keyword === 'allOf' ? (listOf(node['allOf']) as Node[]) : []
    return parts.length === 1 && parts[0] !== undefined ? targetOf(parts[0]) : undefined
  }

  function reference(node: Node, target: Node, outer: Stack | undefined): Lowered {
    const description = textOf(node['description'])
    const stack: Stack = { node, outer }
    if (dialect.references === undefined) {
      if (target === node || isOn(outer, target)) return told(text(node, '$ref', compiler), description)
      compiler.lose(node, '$ref', 'inlined')
      return told(lowerNode(target, stack), description)
    }
    const name = defined(target)
    const known = definitions.get(target) ?? define(target, name, stack)
    if (known.lowered === undefined && dialect.references === 'without cycles') {
      return told(text(node, '$ref', compiler), description)
    }
    const $ref = `#/$defs/${known.name}`
    if (node['$ref'] !== $ref) compiler.lose(node, '$ref', 'renamed', $ref)
    if (description !== '') compiler.lose(node, '$ref', 'widened', 'anyOf')
    // A definition that is being made may still get ways.
    const hasWays = known.lowered === undefined || known.lowered.up !== undefined
    const made: Lowered = {
      schema: { $ref },
      ...(hasWays && {
        up: (value, scope) => (known.lowered?.up === undefined ? value : known.lowered.up(value, scope)),
        down: (value, scope) => (known.lowered?.down === undefined ? value : known.lowered.down(value, scope)),
      }),
    }
    return described(made, description)
  }

  function told(made: Lowered, description: string): Lowered {
    return described(made, describe(description, [textOf(made.schema['description'])]))
  }

  function defined(target: Node): string {
    const last = compiler.pointerOf(target).split('/').at(-1) ?? ''
    const plain = last.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 50)
    return freshName(plain === '' ? 'node' : plain, new Set([...definitions.values()].map(({ name }) => name)))
  }

  function define(target: Node, name: string, stack: Stack): Definition {
    const definition: Definition = { name }
    definitions.set(target, definition)
    byReference.set(`#/$defs/${name}`, definition)
    const lowered_ = lowerNode(target, stack)
    // A definition that is only a reference may lead back to itself.
    definition.lowered = Object.hasOwn(lowered_.schema, '$ref') ? text(target, '$ref', compiler) : lowered_
    return definition
  }

  function lowerFlat(node: Node, stack: Stack, words: string[]): Lowered {
    const keyword = node['anyOf'] !== undefined ? 'anyOf' : node['oneOf'] !== undefined ? 'oneOf' : undefined
    if (keyword !== undefined) {
      const choices = listOf(node[keyword]) as Node[]
      if (!refines(node, choices)) return union(node, keyword, stack, words, compiler)
      const sentence = alternativesSentence(keyword, choices)
      words.push(sentence)
      compiler.lose(node, keyword, 'in words', sentence)
      const { [keyword]: _, ...fields } = node
      return lowerFlat(compiler.made(fields, node), stack, words)
    }
    if (Object.hasOwn(node, 'enum') || Object.hasOwn(node, 'const')) {
      const { branches, takesNull } = constants(node, words, compiler)
      return unionOf(node, branches, takesNull, compiler)
    }
    const types = listOf(node['type']) as TypeName[]
    const others = types.filter((type) => type !== 'null' && !(type === 'integer' && types.includes('number')))
    const [type = 'null'] = others
    if (types.length === 0) return free(node, words, compiler)
    const hasNull = others.length > 0 && types.includes('null')
    if (others.length <= 1) {
      const made = ofType(node, type, stack, words)
      return hasNull ? nullable(made, compiler) : made
    }
    compiler.lose(node, 'type', 'widened', 'anyOf')
    const branches = others.map((one) => lowerNode(only(node, one), stack))
    return unionOf(node, branches, hasNull, compiler)
  }

  function ofType(node: Node, type: TypeName, stack: Stack, words: string[]): Lowered {
    if (type === 'object') return object(node, stack, words, compiler)
    return type === 'array' ? array(node, stack, words, compiler) : scalar(node, type, words, compiler)
  }

  /** Returns a schema of several types for one of them. */
  function only(node: Node, type: TypeName): Node {
    const own = Object.entries(node).filter(([name]) => !annotations.has(name) && speaksOf(name, type))
    return compiler.made({ ...Object.fromEntries(own), type }, node)
  }

  /** The root must be an object with properties. Any other schema becomes the one field of such an object. */
  function rooted(whole: Lowered): Lowered {
    const { schema } = whole
    const unused = Object.keys(fieldsOf(original['$defs'])).some((name) => !byReference.has(`#/$defs/${name}`))
    if (unused) compiler.lose(root, '$defs', 'dropped')
    if (schema['type'] === 'object' && schema['nullable'] === undefined && schema['properties'] !== undefined)
      return whole
    const key = freshName('input', namesOf(schema))
    compiler.lose(root, Object.keys(original).find((name) => name.endsWith('Of')) ?? 'type', 'wrapped', key)
    const isClosed = dialect.objects !== 'open'
    const box = {
      type: 'object',
      properties: { [key]: schema },
      required: [key],
      ...(isClosed ? { additionalProperties: false } : undefined),
    }
    return wrapping(whole, key, box)
  }
}
