import { canonicalize } from '../../index.ts'
import { isNever, type Compiler } from './compiler.ts'
import { commonValues, constraintsOf } from './keywords.ts'
import { distinct, freshName, hasType, jsonOf, hasWord, listOf, NoValue, objectOf, same, typeName } from './schema.ts'
import type { Lowered, SchemaObject, NamedSchemas, TypeName, Way } from './schema.ts'
import { fitsShape, mayMeet, branchFields } from './shape.ts'
import { described, lowerSome, nullable, scalar, asJsonText, wrappedWith } from './value.ts'
import { valuesSentence } from './words.ts'

const refinements = 'required not if then else dependentRequired description title minProperties maxProperties'

/** Returns whether each choice only refines the fields that stand beside the union. */
export function refines({ properties }: SchemaObject, choices: readonly SchemaObject[]): boolean {
  if (properties === undefined) return false
  return choices.every((choice) =>
    Object.entries(choice).every(
      ([keyword, content]) =>
        hasWord(refinements, keyword) ||
        (keyword === 'type' && content === 'object') ||
        (keyword === 'properties' &&
          Object.keys(content as NamedSchemas).every((name) => Object.hasOwn(properties, name))),
    ),
  )
}

/** Lowers `anyOf` or `oneOf`. What stands beside it is merged into each branch. */
export function lowerUnion(
  schema: SchemaObject,
  words: string[],
  compiler: Compiler,
  keyword: 'anyOf' | 'oneOf',
): Lowered {
  const { [keyword]: choices = [], ...beside } = schema
  const isTyped = beside.type && choices.every(({ type }) => type === beside.type)
  const shared = constraintsOf(beside).filter(([name]) => !isTyped || name !== 'type')
  const isAlone = shared.length === 0
  for (const [name] of shared) compiler.lose(schema, name, 'inlined')
  if (keyword === 'oneOf') compiler.lose(schema, 'oneOf', 'widened', 'anyOf')
  const hasNull = isAlone && choices.some(isNull)
  const others = choices.filter((branch) => !isNever(branch) && !(hasNull && isNull(branch)))
  if (hasNull && others.length === 0) return scalar(compiler.placed({}, schema), words, compiler, 'null')
  if (isAlone && others.length > 1 && others.every(isConstant)) {
    // Constants, each with its description, are one list.
    compiler.lose(schema, keyword, 'widened', 'enum')
    for (const { const: value, description } of others) {
      if (typeof description === 'string') words.push(`${jsonOf(value)}: ${description}`)
    }
    return constants(
      compiler.placed({ enum: others.map((branch) => branch['const']) }, schema),
      words,
      compiler,
      hasNull,
    )
  }
  const rest = compiler.placed(objectOf(shared), schema)
  const lowered = others.flatMap((branch) => {
    const branchSchema = isAlone ? branch : compiler.placed({ allOf: [branch, rest] }, branch)
    return lowerSome(branchSchema, keyword, compiler) ?? []
  })
  return unionOf(schema, lowered, compiler, hasNull)
}

function isNull(branch: SchemaObject): boolean {
  return Object.keys(branch).length === 1 && (branch.type === 'null' || branch['const'] === null)
}

function isConstant(branch: SchemaObject): boolean {
  const isPlain = Object.keys(branch).every((keyword) => hasWord('const type description title', keyword))
  return isPlain && 'const' in branch && !hasWord('array object', typeName(branch['const']))
}

/** Lowers `enum` and `const`: a union of a schema for each type of the values. */
export function constants(schema: SchemaObject, words: string[], compiler: Compiler, hasNull = false): Lowered {
  const { enum: list, const: constant, type: own, ...others } = schema
  const keyword = list === undefined ? 'const' : 'enum'
  const choiceValues = list ?? [constant]
  const types = listOf<TypeName>(own)
  const values = commonValues(distinct(choiceValues), 'const' in schema ? [constant] : choiceValues).filter(
    (value) => types.length === 0 || hasType(types, typeName(value)),
  )
  if (values.length === 0) throw new NoValue()
  const hasFraction = values.some((value) => typeName(value) === 'number')
  const groups = Map.groupBy(values, (value): TypeName => {
    const name = typeName(value)
    return name === 'array' ? 'object' : name === 'integer' && hasFraction ? 'number' : name
  })
  const takesNull = groups.delete('null')
  if (groups.size > 1) compiler.lose(schema, keyword, 'widened', 'anyOf')
  else if (types.length === 0 && !compiler.dialect.untyped) compiler.lose(schema, keyword, 'widened', 'type')
  else if (values.length !== choiceValues.length)
    compiler.lose(schema, keyword, 'widened', 'without values of other types')
  const rest = compiler.placed(others, schema)
  const branches = [...groups].map(([type, group]) => branchOf(type, group))
  if (branches.length === 0) return scalar(rest, words, compiler, 'null')
  return unionOf(schema, branches, compiler, hasNull || takesNull)

  function branchOf(type: TypeName, group: readonly unknown[]): Lowered {
    if (type === 'object') return asJsonText(schema, keyword, compiler, valuesSentence(group))
    const notes: string[] = []
    const isAll = type === 'boolean' && group.length === 2
    const isTaken = isAll || hasWord(compiler.dialect.enums, type)
    if (!isTaken) compiler.tell(schema, keyword, notes, valuesSentence(group))
    const isSaid = compiler.takes(keyword)
    if (isTaken && !isSaid) compiler.lose(schema, keyword, 'widened', 'enum')
    const lowered = scalar(rest, notes, compiler, type)
    const only = isSaid ? { [keyword]: list ? group : constant } : { enum: group }
    return described({ ...lowered, schema: { ...lowered.schema, ...(isTaken && !isAll && only) } }, '', ...notes)
  }
}

/** Returns a union of lowered schemas, of which each value can be told apart. */
export function unionOf(
  schema: SchemaObject,
  alternatives: readonly Lowered[],
  compiler: Compiler,
  hasNull: boolean,
): Lowered {
  const branches = tagged(schema, alternatives, compiler)
  const [first, second] = branches
  if (!first) throw new NoValue()
  const anyOf = branches.map((branch) => branch.schema)
  const way = branches.every((branch) => branch.way === same) ? same : branchesWay(branches, compiler)
  const both = second ? { schema: { anyOf }, way } : first
  return hasNull ? nullable(both, compiler) : both
}

function branchesWay(branches: readonly Lowered[], compiler: Compiler): Way {
  return (value, scope) => {
    if (scope.steps.left-- <= 0) throw new RangeError('it is too large')
    const { accepts = (schema, sunk) => fitsShape(schema, sunk, compiler, scope, true) } = scope
    for (const { schema, way } of branches) {
      if (scope.isUp) {
        if (way !== same && fitsShape(schema, value, compiler, scope)) return way(value, scope)
        continue
      }
      const sunk = way(value, scope)
      // A list of another branch could be taken for the pairs of this one.
      const back = way(sunk, { ...scope, isUp: true })
      if (canonicalize(back) === canonicalize(value) && accepts(schema, sunk)) return sunk
    }
    return value
  }
}

/**
 * Wraps the branches that could not be told apart: `{ option2: … }`. A branch whose values need no translation keeps its shape,
 * unless it could take a wrapped one.
 */
function tagged(schema: SchemaObject, branches: readonly Lowered[], compiler: Compiler): readonly Lowered[] {
  const names = new Set(branches.flatMap((branch) => [...branchFields(branch.schema)]))
  const isMet = (one: Lowered, others: Iterable<Lowered>): boolean =>
    [...others].some((other) => other !== one && mayMeet(one.schema, other.schema, compiler))
  const wraps = new Map<Lowered, Lowered>()
  let met = branches.filter((one) => one.way !== same && isMet(one, branches))
  while (met.length > 0) {
    for (const one of met) {
      wraps.set(one, wrappedWith(one, freshName(`option${branches.indexOf(one) + 1}`, names), compiler))
    }
    met = branches.filter((one) => !wraps.has(one) && isMet(one, wraps.values()))
  }
  return branches.map((branch, index) => {
    if (wraps.has(branch)) compiler.lose(schema, 'anyOf', 'wrapped', `option${index + 1}`)
    return wraps.get(branch) ?? branch
  })
}
