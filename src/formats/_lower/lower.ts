import { array } from './array.ts'
import { compiled, isOn, type Compiler, type Reading, type Stack } from './compiler.ts'
import type { Dialect } from './dialect.ts'
import { annotation, flatten } from './merge.ts'
import { object } from './object.ts'
import { fieldsOf, freshName, listOf, NoValue, Refusal } from './schema.ts'
import type { Lowered, LoweredSchema, Node, TypeName } from './schema.ts'
import { namesOf } from './shape.ts'
import { refines, union, unionOf } from './union.ts'
import { boxOf, constants, described, free, nullable, scalar, speaksOf, text, wrapping } from './value.ts'
import { alternativesSentence, describe } from './words.ts'

/**
 * Lowers an input schema into a dialect: every value that fits the original can be said, except that fields without a
 * schema may be refused. Never throws: a schema that the dialect cannot take has the reason.
 *
 * @param root The input schema, as JSON.
 */
export function lower(root: Node, dialect: Dialect): LoweredSchema {
  return compiled(root, (reading) => {
    const lowered = compile(root, dialect, reading)
    const { refused, ...sums } = dialect.limit?.(lowered.schema) ?? {}
    if (refused !== undefined) throw new Refusal(refused)
    return { ...lowered, ...sums }
  })
}

function compile(original: Node, dialect: Dialect, reading: Reading): Lowered {
  const keywords = new Set(dialect.keywords.split(' '))
  const compiler: Compiler = {
    ...reading,
    dialect,
    takes: (keyword) => keywords.has(keyword),
    lower: lowerNode,
    definitionOf: (schema) => references?.definitionOf(schema),
  }
  const { root, lose } = compiler
  const references = dialect.references?.(compiler)
  const { schema, way } = lowerNode(root, undefined)
  const $defs = references?.definitions() ?? {}
  if (Object.keys(fieldsOf(original['$defs'])).some((name) => !Object.hasOwn($defs, name)))
    lose(root, '$defs', 'dropped')
  const defined = Object.keys($defs).length === 0 ? undefined : { $defs }
  // The root must be an object with properties. Any other schema becomes the one field of such an object.
  const isObject = schema['type'] === 'object' && schema['nullable'] === undefined && schema['properties'] !== undefined
  if (isObject) return { schema: { ...schema, ...defined }, way }
  const key = freshName('input', namesOf(schema))
  lose(root, Object.keys(original).find((name) => name.endsWith('Of')) ?? 'type', 'wrapped', key)
  return wrapping({ schema, way }, key, { ...boxOf({ [key]: schema }, compiler), ...defined })

  function lowerNode(node: Node, outer: Stack | undefined): Lowered {
    compiler.count()
    if (compiler.booleanOf(node) === false) throw new NoValue()
    const target = targetOf(node)
    if (target !== undefined) return told(refer(node, target, outer), node['description'])
    const words: string[] = []
    const { node: flat, stack, isCycle } = flatten(node, words, compiler, outer)
    if (isCycle) return told(text(node, '$ref', compiler), node['description'])
    const lowered = lowerFlat(flat, stack, words)
    return told(lowered, flat['description'], ...words)
  }

  /** Returns the target of a schema that is only a `$ref`, or an `allOf` of one. */
  function targetOf(node: Node): Node | undefined {
    const [keyword, ...others] = Object.keys(node).filter((name) => !annotation.test(name))
    if (others.length > 0) return undefined
    if (keyword === '$ref') return compiler.resolve(node['$ref'])
    const [part, ...parts] = keyword === 'allOf' ? listOf<Node>(node['allOf']) : []
    return part === undefined || parts.length > 0 ? undefined : targetOf(part)
  }

  function refer(node: Node, target: Node, outer: Stack | undefined): Lowered {
    const stack: Stack = { node, outer }
    if (references !== undefined) return references.refer(node, target, stack)
    if (target === node || isOn(outer, target)) return text(node, '$ref', compiler)
    lose(node, '$ref', 'inlined')
    return lowerNode(target, stack)
  }

  function told(lowered: Lowered, description: unknown, ...words: readonly string[]): Lowered {
    return described(lowered, describe(description, ...words, describe(lowered.schema['description'])))
  }

  function lowerFlat(node: Node, stack: Stack, words: string[]): Lowered {
    const keyword = node['anyOf'] !== undefined ? 'anyOf' : 'oneOf'
    const choices = listOf<Node>(node[keyword])
    if (choices.length > 0) {
      if (!refines(node, choices)) return union(node, keyword, stack, words, compiler)
      compiler.tell(node, keyword, words, alternativesSentence(keyword, choices))
      const { [keyword]: _, ...fields } = node
      return lowerFlat(compiler.made(fields, node), stack, words)
    }
    if (Object.hasOwn(node, 'enum') || Object.hasOwn(node, 'const')) {
      const { branches, takesNull } = constants(node, words, compiler)
      return unionOf(node, branches, takesNull, compiler)
    }
    const types = listOf<TypeName>(node['type'])
    if (types.length === 0) return free(node, words, compiler)
    const others = types.filter((type) => type !== 'null' && !(type === 'integer' && types.includes('number')))
    const hasNull = others.length > 0 && types.includes('null')
    if (others.length > 1) {
      lose(node, 'type', 'widened', 'anyOf')
      const branches = others.map((one) => lowerNode(only(node, one), stack))
      return unionOf(node, branches, hasNull, compiler)
    }
    const lowered = ofType(node, others[0] ?? 'null', stack, words)
    return hasNull ? nullable(lowered, compiler) : lowered
  }

  function ofType(node: Node, type: TypeName, stack: Stack, words: string[]): Lowered {
    if (type === 'object') return object(node, stack, words, compiler)
    return type === 'array' ? array(node, stack, words, compiler) : scalar(node, type, words, compiler)
  }

  /** Returns a schema of several types for one of them. */
  function only(node: Node, type: TypeName): Node {
    const own = Object.entries(node).filter(([name]) => !annotation.test(name) && speaksOf(name, type))
    return compiler.made({ ...Object.fromEntries(own), type }, node)
  }
}
