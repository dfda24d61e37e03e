import { recursiveAnchor } from './_resolve.ts'
import { type Cell, type Evaluated, type Resource, type Run, type Scope, spend } from './_run.ts'
import type { Site } from './_site.ts'
import { isSchemaObject } from './_snapshot.ts'

/** Compiles `$ref`, `$dynamicRef` and `$recursiveRef`. */
export function referenceKeywords(site: Site): void {
  const { schema, draft, anything } = site
  const { $ref, $dynamicRef, $recursiveRef } = schema
  if ($ref !== undefined) anything.push(site.follow(site.resolve($ref)))
  const reference = draft === 2020 ? $dynamicRef : draft === 2019 ? $recursiveRef : undefined
  if (reference === undefined) return
  const target = site.resolve(reference)
  const { schema: first, anchor } = target
  const isDynamic =
    isSchemaObject(first) &&
    (draft === 2019 ? first['$recursiveAnchor'] === true : anchor !== '' && first['$dynamicAnchor'] === anchor)
  if (!isDynamic) {
    anything.push(site.follow(target))
    return
  }
  const cells = site.dynamicCells(draft === 2019 ? recursiveAnchor : anchor)
  anything.push((value, run, evaluated) => {
    let chosen = target.resource
    for (let scope: Scope | null = run.scope; scope !== null; scope = scope.outer) {
      spend(run, 1)
      if (cells.has(scope.resource)) chosen = scope.resource
    }
    return testIn(chosen, cells.get(chosen)!, value, run, evaluated)
  })
}

/** Applies a schema with its resource in the dynamic scope. */
export function testIn(resource: Resource, cell: Cell, value: unknown, run: Run, evaluated: Evaluated | null): boolean {
  const { scope } = run
  if (scope.resource === resource) return cell.test(value, run, evaluated)
  run.scope = { resource, outer: scope }
  const fits = cell.test(value, run, evaluated)
  run.scope = scope
  return fits
}
