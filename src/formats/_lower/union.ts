import { canonicalize } from '../../index.ts'
import type { Compiler, Stack } from './compiler.ts'
import { annotations } from './merge.ts'
import { through, wrapping } from './object.ts'
import { freshName, listOf, NoValue, textOf, type Lowered, type Node, type Scope } from './schema.ts'
import { fits, mayMeet, namesOf } from './shape.ts'
import { constants, described, nullable, scalar } from './value.ts'

const refinements = new Set(
  'required not if then else dependentRequired description title minProperties maxProperties'.split(' '),
)

/** Returns whether each choice only refines the fields that stand beside the union. */
export function refines(node: Node, choices: readonly Node[]): boolean {
  const properties = node['properties']
  if (typeof properties !== 'object' || properties === null) return false
  return choices.every((choice) =>
    Object.entries(choice).every(
      ([keyword, content]) =>
        refinements.has(keyword) ||
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
  const { lose, booleanOf } = compiler
  const { [keyword]: choices, ...beside } = node
  const isTyped = (listOf(choices) as Node[]).every(({ type }) => type !== undefined && type === beside['type'])
  const shared = Object.entries(beside).filter(([name]) => !annotations.has(name) && !(isTyped && name === 'type'))
  for (const [name] of shared) lose(node, name, 'inlined')
  if (keyword === 'oneOf') lose(node, 'oneOf', 'widened', 'anyOf')
  const branches = (listOf(choices) as Node[]).filter((branch) => booleanOf(branch) !== false)
  const isNull = (branch: Node): boolean => onlyNull(branch) && shared.length === 0
  const others = branches.filter((branch) => !isNull(branch))
  const hasNull = others.length < branches.length
  if (others.length === 0 && hasNull) return scalar(compiler.made({}, node), 'null', words, compiler)
  if (shared.length === 0 && others.length > 1 && others.every(isConstant)) return listed(others, hasNull)
  const lowered: Lowered[] = []
  for (const branch of others) {
    const whole = shared.length === 0 ? branch : merged(branch)
    try {
      lowered.push(compiler.lower(whole, stack))
    } catch (error) {
      if (!(error instanceof NoValue)) throw error
      lose(branch, keyword, 'dropped')
    }
  }
  return unionOf(node, lowered, hasNull, compiler)

  function merged(branch: Node): Node {
    return compiler.made({ allOf: [branch, compiler.made(Object.fromEntries(shared), node)] }, branch)
  }

  /** Constants, each with its description, are one list. */
  function listed(all: readonly Node[], takesNull: boolean): Lowered {
    lose(node, keyword, 'widened', 'enum')
    for (const { const: value, description } of all) {
      if (typeof description === 'string') words.push(`${JSON.stringify(value)}: ${description}`)
    }
    const made = compiler.made({ enum: all.map((branch) => branch['const']) }, node)
    const { branches: some, takesNull: hasNullToo } = constants(made, words, compiler)
    return unionOf(node, some, takesNull || hasNullToo, compiler)
  }
}

function onlyNull(branch: Node): boolean {
  return Object.keys(branch).length === 1 && (branch['type'] === 'null' || branch['const'] === null)
}

function isConstant(branch: Node): boolean {
  const { const: value, type: _type, description: _description, title: _title, ...others } = branch
  return (
    Object.hasOwn(branch, 'const') && (typeof value !== 'object' || value === null) && Object.keys(others).length === 0
  )
}

/** Returns a union of lowered schemas, of which each value can be told apart. */
export function unionOf(node: Node, given: readonly Lowered[], hasNull: boolean, compiler: Compiler): Lowered {
  if (given.length === 0) throw new NoValue('no value fits it')
  const branches = tagged(node, given, compiler)
  const [only] = branches
  if (branches.length === 1 && only !== undefined) {
    return hasNull ? orNull(only) : only
  }
  const accepts = (schema: Node, value: unknown, scope: Scope): boolean =>
    scope.accepts === undefined ? fits(schema, value, compiler, scope, true) : scope.accepts(schema, value)
  const hasWays = branches.some(({ up }) => up !== undefined)
  const whole: Lowered = {
    schema: { anyOf: branches.map(({ schema }) => schema) },
    ...(hasWays && {
      up: (value, scope) => {
        const branch = branches.find(({ schema, up }) => up !== undefined && fits(schema, value, compiler, scope))
        return through(branch?.up, value, scope)
      },
      down: (value, scope) => {
        for (const { schema, up, down } of branches) {
          const sunk = through(down, value, scope)
          // A list of another branch could be taken for the pairs of this one.
          const isBack = canonicalize(through(up, sunk, scope)) === canonicalize(value)
          if (isBack && accepts(schema, sunk, scope)) return sunk
        }
        return value
      },
    }),
  }
  return hasNull ? orNull(whole) : whole

  function orNull(lowered: Lowered): Lowered {
    return nullable(lowered, compiler)
  }
}

/**
 * Wraps the branches that could not be told apart: `{ option2: … }`. A branch whose values need no translation keeps its shape,
 * unless it could take a wrapped one.
 */
function tagged(node: Node, branches: readonly Lowered[], compiler: Compiler): readonly Lowered[] {
  const meets = (one: Lowered, other: Lowered): boolean => mayMeet(one.schema, other.schema, compiler)
  const isTagged = branches.map(
    (branch) => branch.up !== undefined && branches.some((other) => other !== branch && meets(branch, other)),
  )
  const names = new Set(branches.flatMap(({ schema }) => [...namesOf(schema)]))
  let made: readonly Lowered[] = []
  for (;;) {
    made = branches.map((branch, index) => (isTagged[index] === true ? tag(branch, index) : branch))
    const next = made.findIndex(
      (branch, index) =>
        isTagged[index] !== true &&
        made.some((other, place) => isTagged[place] === true && mayMeet(branch.schema, other.schema, compiler)),
    )
    if (next < 0) break
    isTagged[next] = true
  }
  made.forEach((_, index) => {
    if (isTagged[index] === true) compiler.lose(node, 'anyOf', 'wrapped', `option${index + 1}`)
  })
  return made

  function tag(lowered: Lowered, index: number): Lowered {
    const key = freshName(`option${index + 1}`, names)
    const { description, ...schema } = lowered.schema
    const box = { type: 'object', properties: { [key]: schema }, required: [key], additionalProperties: false }
    const { additionalProperties: _, ...open } = box
    const wrapped = wrapping(lowered, key, compiler.dialect.keywords.has('additionalProperties') ? box : open)
    return described(wrapped, textOf(description))
  }
}
