import { isEnough, spend, testPart } from './_run.ts'
import type { Site } from './_site.ts'
import { isSchemaObject } from './_snapshot.ts'

/** Compiles `unevaluatedItems` and `unevaluatedProperties`, for the parts that no other keyword has evaluated. */
export function unevaluatedKeywords(site: Site): void {
  const { unevaluatedItems, unevaluatedProperties } = site.schema
  if (site.draft < 2019 || (unevaluatedItems ?? unevaluatedProperties) === undefined) return
  const items = unevaluatedItems === undefined ? undefined : site.part(unevaluatedItems)
  const members = unevaluatedProperties === undefined ? undefined : site.part(unevaluatedProperties)
  site.last.push((value, run, evaluated) => {
    const isList = Array.isArray(value)
    const cell = isList ? items : isSchemaObject(value) ? members : undefined
    if (cell === undefined) return true
    let fits = true
    for (const key of isList ? value.keys() : Object.keys(value as object)) {
      spend(run, 1)
      if (evaluated!.has(key)) continue
      evaluated!.keys.add(key)
      if (testPart(cell, key, (value as Record<string | number, unknown>)[key], run)) continue
      fits = false
      if (isEnough(run)) return false
    }
    return fits
  })
}
