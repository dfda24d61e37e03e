import { misfitUnknown, show } from './_messages.ts'
import { matches } from './_keywords-string.ts'
import { type Cell, type Finding, isEnough, misfit, type Run, spend, testPart } from './_run.ts'
import { entries, type Pattern, type Site } from './_site.ts'

type Members = Readonly<Record<string, unknown>>

/** The rules for one property name. */
interface Member {
  readonly cell: Cell | undefined
  readonly required: boolean
}

/** Compiles the keywords for the properties of an object, except the limits of their number. */
export function objectKeywords(site: Site): void {
  memberKeywords(site)
  if (site.schema['propertyNames'] !== undefined) namesKeyword(site)
  dependencyKeywords(site)
}

/** Compiles `required`, `properties`, `patternProperties` and `additionalProperties` to one loop over the properties. */
function memberKeywords(site: Site): void {
  const { schema } = site
  const { additionalProperties } = schema
  const required = new Set(site.asserts ? (schema['required'] as string[] | undefined) : [])
  const members = new Map<string, Member>()
  for (const [name, member] of entries(schema['properties'])) {
    members.set(name, { cell: site.part(member), required: required.has(name) })
  }
  const memberNames = [...members.keys()]
  for (const name of required) if (!members.has(name)) members.set(name, { cell: undefined, required: true })
  const patterns = entries(schema['patternProperties']).map(([source, member]): [Pattern, Cell] => [
    site.pattern(source, 'patternProperties'),
    site.part(member),
  ])
  const closed = additionalProperties === false
  const others = additionalProperties === undefined ? undefined : site.part(additionalProperties)
  if (members.size === 0 && patterns.length === 0 && !others) return

  site.objects.push((value, run, evaluated) => {
    let fits = true
    let found = 0
    if (run.findings !== null) fits = reportMissing(required, value, run)
    for (const name in value) {
      // Count each step here: many schemas may each fail at the last of many properties.
      spend(run, 1)
      if (!Object.hasOwn(value, name)) continue
      const member = members.get(name)
      let isKnown = false
      let isRight = true
      if (member !== undefined) {
        if (member.required) found++
        if (member.cell !== undefined) {
          isKnown = true
          isRight = testPart(member.cell, name, value[name], run)
        }
      }
      for (const [pattern, cell] of patterns) {
        if (!matches(pattern, name, run)) continue
        isKnown = true
        isRight = testPart(cell, name, value[name], run) && isRight
      }
      if (!isKnown && others !== undefined) {
        isKnown = true
        isRight = closed ? misfitUnknown(run, name, memberNames, value) : testPart(others, name, value[name], run)
      }
      if (isKnown && evaluated !== null) evaluated.keys.add(name)
      if (!isRight) {
        fits = false
        if (isEnough(run)) return false
      }
    }
    // Without findings, comparing counts is enough, because each name occurs once.
    return fits && found === required.size
  })
}

function reportMissing(required: ReadonlySet<string>, value: Members, run: Run): boolean {
  spend(run, required.size)
  let fits = true
  for (const name of required) {
    if (!Object.hasOwn(value, name)) fits = misfit(run, () => `missing required property ${show(name)}`)
  }
  return fits
}

function namesKeyword(site: Site): void {
  const cell = site.part(site.schema['propertyNames'])
  site.objects.push((value, run) => {
    const { findings } = run
    const names = Object.keys(value)
    spend(run, names.length)
    for (const name of names) {
      const reasons: Finding[] | null = findings && []
      run.findings = reasons
      const fits = cell.test(name, run, null)
      run.findings = findings
      if (fits) continue
      return misfit(run, () => `property name ${show(name)}: ${reasons![0]!.message}`)
    }
    return true
  })
}

/** Compiles `dependentRequired`, `dependentSchemas`, and `dependencies`, which combined both. */
function dependencyKeywords(site: Site): void {
  const { schema, draft, objects } = site
  const modern = draft >= 2019
  const all = [
    ...entries(schema['dependencies']),
    ...(modern ? [...entries(schema['dependentRequired']), ...entries(schema['dependentSchemas'])] : []),
  ]
  for (const [trigger, needed] of all) {
    if (!Array.isArray(needed)) {
      const test = site.beside(needed)
      objects.push((value, run, evaluated) => !Object.hasOwn(value, trigger) || test(value, run, evaluated))
    } else if (site.asserts) {
      site.weight++
      objects.push((value, run) => {
        if (!Object.hasOwn(value, trigger)) return true
        spend(run, needed.length)
        let fits = true
        for (const name of needed as string[]) {
          if (Object.hasOwn(value, name)) continue
          fits = misfit(run, () => `missing property ${show(name)}, required by ${show(trigger)}`)
        }
        return fits
      })
    }
  }
}
