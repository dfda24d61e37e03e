import { textOf } from './_equality.ts'
import { type Cell, isEnough, misfit, type Run, spend, testPart, testQuietly } from './_run.ts'
import type { Site } from './_site.ts'

/** Compiles `uniqueItems`, `prefixItems`, `items`, `additionalItems` and `contains`. */
export function arrayKeywords(site: Site): void {
  const { schema, arrays } = site
  if (site.asserts && schema['uniqueItems'] === true) arrays.push(areUnique)
  itemKeywords(site)
  if (schema['contains'] !== undefined) containsKeyword(site)
}

function areUnique(items: readonly unknown[], run: Run): boolean {
  const firsts = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const key = textOf(item, run)
    const first = firsts.get(key)
    if (first !== undefined) return misfit(run, () => `items ${first} and ${index} are equal`)
    firsts.set(key, index)
  }
  return true
}

function itemKeywords(site: Site): void {
  const { schema, draft, arrays } = site
  const { items, prefixItems, additionalItems } = schema
  const isTuple = Array.isArray(items)
  const prefix = draft === 2020 ? prefixItems : isTuple ? items : undefined
  const rest = isTuple ? additionalItems : items
  const first: readonly Cell[] = ((prefix ?? []) as unknown[]).map((item) => site.part(item))
  // `true` needs no test, but its items count as evaluated.
  const others = rest === undefined || rest === true ? undefined : site.part(rest)
  if (first.length === 0 && rest === undefined) return
  arrays.push((value, run, evaluated) => {
    const last = others ? value.length : Math.min(first.length, value.length)
    spend(run, last)
    let fits = true
    for (let index = 0; index < last; index++) {
      const cell = index < first.length ? first[index]! : others!
      if (testPart(cell, index, value[index], run)) continue
      fits = false
      if (isEnough(run)) return false
    }
    if (evaluated !== null) evaluated.items = rest === undefined ? Math.max(evaluated.items, last) : Infinity
    return fits
  })
}

function containsKeyword(site: Site): void {
  const { schema, draft } = site
  const wanted = site.part(schema['contains'])
  const counts = site.asserts && draft >= 2019
  const least = counts ? ((schema['minContains'] as number | undefined) ?? 1) : 1
  const most = counts ? ((schema['maxContains'] as number | undefined) ?? Infinity) : Infinity
  site.arrays.push((value, run, evaluated) => {
    spend(run, value.length)
    let found = 0
    for (const [index, item] of value.entries()) {
      if (!testQuietly(wanted.test, item, run)) continue
      found++
      if (draft === 2020) evaluated?.keys.add(index)
    }
    return (
      (found >= least && found <= most) ||
      misfit(
        run,
        () =>
          `must contain ${most === Infinity ? `at least ${least}` : `${least} to ${most}`} fitting items, got ${found}`,
      )
    )
  })
}
