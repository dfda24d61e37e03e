import { SchemaError } from './_error.ts'
import { arrayKeywords } from './_keywords-array.ts'
import { boundKeywords } from './_keywords-bounds.ts'
import { generalKeywords } from './_keywords-general.ts'
import { logicKeywords } from './_keywords-logic.ts'
import { objectKeywords } from './_keywords-object.ts'
import { stringKeywords } from './_keywords-string.ts'
import { unevaluatedKeywords } from './_keywords-unevaluated.ts'
import { applicationDepth } from './_limits.ts'
import { show } from './_messages.ts'
import { referenceKeywords, testIn } from './_references.ts'
import type { Index } from './_resolve.ts'
import { allOf, type Cell, checkDepth, Evaluated, misfit, type Resource, spend, type Test } from './_run.ts'
import type { Formats, Pattern, Site } from './_site.ts'
import { isSchemaObject, pointerPart, type Schema } from './_snapshot.ts'

/** A cell under construction. */
interface SchemaCell extends Cell {
  readonly schema: Schema
  /** The schemas that this one applies to the same value. */
  readonly beside: SchemaCell[]
}

const keywords = [
  generalKeywords,
  boundKeywords,
  stringKeywords,
  arrayKeywords,
  objectKeywords,
  logicKeywords,
  unevaluatedKeywords,
]

const pass: Cell = { test: () => true }
const refuse: Cell = { test: (_value, run) => misfit(run, () => 'must not be there') }

/** Compiles only the schemas that validation can reach from the root. */
export function compileSchemas(index: Index, formats: Formats, regex: (pattern: string) => Pattern): Cell {
  const cells = new Map<Schema, SchemaCell>()
  const waiting: SchemaCell[] = []
  const dynamic = new Map<string, Map<Resource, Cell>>()

  function cellOf(schema: unknown): Cell | SchemaCell {
    if (!isSchemaObject(schema)) return schema === true ? pass : refuse
    let cell = cells.get(schema)
    if (!cell) {
      cell = { schema, beside: [], test: pass.test }
      cells.set(schema, cell)
      waiting.push(cell)
    }
    return cell
  }

  /** Returns the cell of a schema that is entered from a resource. */
  function cellFrom(schema: unknown, from: Resource, resource: Resource): Cell {
    const cell = cellOf(schema)
    if (resource === from) return cell
    return { test: (value, run, evaluated) => testIn(resource, cell, value, run, evaluated) }
  }

  function compilePattern(source: string, at: string): Pattern {
    try {
      return regex(source)
    } catch (error) {
      throw new SchemaError('pattern', at, `the pattern ${show(source)} cannot be used: ${String(error).slice(0, 300)}`)
    }
  }

  function build(cell: SchemaCell): void {
    const { schema, beside } = cell
    const place = index.place(schema)
    const { resource, at } = place
    const { draft, asserts } = resource.dialect
    // A schema without subschemas needs no guard: the loop over the values counts its steps.
    let isLeaf = true
    function part(child: unknown, into = isSchemaObject(child) ? index.place(child).resource : resource): Cell {
      isLeaf = false
      return cellFrom(child, resource, into)
    }
    function sideBySide(child: unknown, into?: Resource): Test {
      const other = cellOf(child)
      if ('beside' in other) beside.push(other)
      site.weight++
      const entered = part(child, into)
      return (value, run, evaluated) => entered.test(value, run, evaluated)
    }
    const site: Site = {
      schema,
      draft,
      asserts,
      formats,
      part,
      beside: sideBySide,
      resolve: (reference) => index.resolve(reference as string, place),
      follow: (target) => sideBySide(target.schema, target.resource),
      dynamicCells(name) {
        site.weight++
        if (!dynamic.has(name)) dynamic.set(name, new Map())
        return dynamic.get(name)!
      },
      pattern: (source, keyword) => compilePattern(source, at + pointerPart(keyword)),
      anything: [],
      strings: [],
      numbers: [],
      arrays: [],
      objects: [],
      last: [],
      weight: 1,
    }
    referenceKeywords(site)
    // Draft 07 ignores keywords beside `$ref`.
    if (draft > 7 || schema['$ref'] === undefined) for (const compileKeywords of keywords) compileKeywords(site)
    const test = assemble(site)
    cell.test = isLeaf && site.weight === 1 ? test : guard(test, site.weight)
  }

  function buildAll(): void {
    for (let cell = waiting.pop(); cell; cell = waiting.pop()) build(cell)
  }

  const top = cellFrom(index.root, index.resource, index.resource)
  buildAll()
  for (let grew = true; grew;) {
    grew = false
    // Compile every schema that a dynamic reference may choose. That can add names, at the end of the map, and resources.
    for (const [name, dynamicSchemas] of dynamic) {
      for (const [resource, schema] of index.dynamicAnchors(name).slice(dynamicSchemas.size)) {
        dynamicSchemas.set(resource, cellOf(schema))
        grew = true
      }
      buildAll()
    }
  }
  refuseCycles([...cells.values()], index, new Map())
  return top
}

/** Combines all tests of a schema. */
function assemble(site: Site): Test {
  const anything = allOf(site.anything)
  const strings = allOf(site.strings)
  const numbers = allOf(site.numbers)
  const arrays = allOf(site.arrays)
  const objects = allOf(site.objects)
  const last = allOf(site.last)
  if (!strings && !numbers && !arrays && !objects && !last) return anything ?? pass.test

  // Each test is called only with values of its own type.
  function ofType(value: unknown): Test<never> | null {
    if (typeof value === 'string') return strings
    if (typeof value === 'number') return numbers
    if (Array.isArray(value)) return arrays
    return isSchemaObject(value) ? objects : null
  }

  const main: Test = (value, run, evaluated) => {
    const fits = anything === null || anything(value, run, evaluated)
    if (!fits && run.findings === null) return false
    const more = ofType(value)
    return (more === null || more(value as never, run, evaluated)) && fits
  }
  if (last === null) return main
  return (value, run, evaluated) => {
    const own = new Evaluated()
    // After a misfit, the evaluated items and properties are unknown.
    if (!main(value, run, own) || !last(value, run, own)) return false
    evaluated?.take(own, run)
    return true
  }
}

/** Counts the steps and the depth of each application of a schema. */
function guard(test: Test, weight: number): Test {
  return (value, run, evaluated) => {
    spend(run, weight)
    checkDepth(++run.depth)
    const fits = test(value, run, evaluated)
    run.depth--
    return fits
  }
}

/** Throws if schemas refer to themselves for the same value, because validation would never end. */
function refuseCycles(cells: readonly SchemaCell[], index: Index, finished: Map<SchemaCell, boolean>, depth = 0): void {
  for (const cell of cells) {
    if (finished.get(cell)) continue
    if (finished.has(cell) || depth > applicationDepth) {
      throw new SchemaError('cycle', index.place(cell.schema).at, 'references form an endless cycle')
    }
    finished.set(cell, false)
    refuseCycles(cell.beside, index, finished, depth + 1)
    finished.set(cell, true)
  }
}
