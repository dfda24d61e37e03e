import { canonicalize } from '../../index.ts'
import { isObject } from '../_read.ts'
import type { Compiler, Stack } from './compiler.ts'
import { annotation } from './merge.ts'
import { freshName, listOf, NoValue, through, type Lowered, type Node } from './schema.ts'
import { fits, mayMeet, namesOf } from './shape.ts'
import { boxOf, constants, described, nullable, scalar, wrapping } from './value.ts'
import { describe } from './words.ts'

const refinement = /^(?:required|not|if|then|else|dependentRequired|description|title|minProperties|maxProperties)$/

/** Returns whether each choice only refines the fields that stand beside the union. */
export function refines({ properties }: Node, choices: readonly Node[]): boolean {
  if (!isObject(properties)) return false
  return choices.every((choice) =>
    Object.entries(choice).every(
      ([keyword, content]) =>
        refinement.test(keyword) ||
        (keyword === 'type' && content === 'object') ||
        (keyword === 'properties' && Object.keys(content as Node).every((name) => Object.hasOwn(properties, name))),
    ),
  )
}

/** Lowers `anyOf` or `oneOf`. What stands beside it is merged into each branch. */
export function union(
  node: Node,
  keyword: 'anyOf' | 'oneOf',
  stack: Stack,
  words: string[],
  compiler: Compiler,
): Lowered {
  const { lose, booleanOf, made } = compiler
  const { [keyword]: given, ...beside } = node
  const choices = listOf<Node>(given)
  const isTyped = choices.every(({ type }) => type !== undefined && type === beside['type'])
  const shared = Object.entries(beside).filter(([name]) => !annotation.test(name) && !(isTyped && name === 'type'))
  for (const [name] of shared) lose(node, name, 'inlined')
  if (keyword === 'oneOf') lose(node, 'oneOf', 'widened', 'anyOf')
  const branches = choices.filter((branch) => booleanOf(branch) !== false)
  const others = branches.filter((branch) => shared.length > 0 || !isNull(branch))
  const hasNull = others.length < branches.length
  if (others.length === 0 && hasNull) return scalar(made({}, node), 'null', words, compiler)
  if (shared.length === 0 && others.length > 1 && others.every(isConstant)) return constantsOf()
  const lowered: Lowered[] = []
  for (const branch of others) {
    const both = { allOf: [branch, made(Object.fromEntries(shared), node)] }
    try {
      lowered.push(compiler.lower(shared.length === 0 ? branch : made(both, branch), stack))
    } catch (error) {
      if (!(error instanceof NoValue)) throw error
      lose(branch, keyword, 'dropped')
    }
  }
  return unionOf(node, lowered, hasNull, compiler)

  /** Constants, each with its description, are one list. */
  function constantsOf(): Lowered {
    lose(node, keyword, 'widened', 'enum')
    for (const { const: value, description } of others) {
      if (typeof description === 'string') words.push(`${JSON.stringify(value)}: ${description}`)
    }
    const list = made({ enum: others.map((branch) => branch['const']) }, node)
    const { branches: some, takesNull } = constants(list, words, compiler)
    return unionOf(node, some, hasNull || takesNull, compiler)
  }
}

function isNull(branch: Node): boolean {
  return Object.keys(branch).length === 1 && (branch['type'] === 'null' || branch['const'] === null)
}

function isConstant(branch: Node): boolean {
  const isPlain = Object.keys(branch).every((keyword) => /^(?:const|type|description|title)$/.test(keyword))
  return isPlain && Object.hasOwn(branch, 'const') && (typeof branch['const'] !== 'object' || branch['const'] === null)
}

/** Returns a union of lowered schemas, of which each value can be told apart. */
export function unionOf(node: Node, given: readonly Lowered[], hasNull: boolean, compiler: Compiler): Lowered {
  const branches = tagged(node, given, compiler)
  const [only] = branches
  if (only === undefined) throw new NoValue()
  const whole = branches.length === 1 ? only : { schema: { anyOf: branches.map(({ schema }) => schema) }, way: wayOf() }
  return hasNull ? nullable(whole, compiler) : whole

  function wayOf(): Lowered['way'] {
    if (branches.every(({ way }) => way === undefined)) return undefined
    return (value, isUp, scope) => {
      scope.steps -= 1
      if (scope.steps < 0) throw new RangeError('The value is too large.')
      if (isUp) {
        const branch = branches.find(({ schema, way }) => way !== undefined && fits(schema, value, compiler, scope))
        return through(branch?.way, value, isUp, scope)
      }
      const { accepts = (schema: Node, sunk: unknown) => fits(schema, sunk, compiler, scope, true) } = scope
      for (const { schema, way } of branches) {
        const sunk = through(way, value, false, scope)
        // A list of another branch could be taken for the pairs of this one.
        const isBack = canonicalize(through(way, sunk, true, scope)) === canonicalize(value)
        if (isBack && accepts(schema, sunk)) return sunk
      }
      return value
    }
  }
}

/**
 * Wraps the branches that could not be told apart: `{ option2: … }`. A branch whose values need no translation keeps its shape,
 * unless it could take a wrapped one.
 */
function tagged(node: Node, branches: readonly Lowered[], compiler: Compiler): readonly Lowered[] {
  const names = new Set(branches.flatMap(({ schema }) => [...namesOf(schema)]))
  const isMet = (one: Lowered, others: readonly Lowered[]): boolean =>
    others.some((other) => other !== one && mayMeet(one.schema, other.schema, compiler))
  const wrapped = new Map(branches.filter((one) => one.way && isMet(one, branches)).map((one) => [one, wrap(one)]))
  for (;;) {
    const next = branches.find((one) => !wrapped.has(one) && isMet(one, [...wrapped.values()]))
    if (next === undefined) break
    wrapped.set(next, wrap(next))
  }
  return branches.map((branch, index) => {
    if (wrapped.has(branch)) compiler.lose(node, 'anyOf', 'wrapped', `option${index + 1}`)
    return wrapped.get(branch) ?? branch
  })

  function wrap(lowered: Lowered): Lowered {
    const key = freshName(`option${branches.indexOf(lowered) + 1}`, names)
    const { description, ...schema } = lowered.schema
    return described(wrapping(lowered, key, boxOf({ [key]: schema }, compiler)), describe(description))
  }
}
