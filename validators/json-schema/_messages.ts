import { listLength, shownLength } from './_limits.ts'
import { type Finding, isEnough, misfit, type Run, spend } from './_run.ts'

/** Returns the JSON type of a value, or a description if it is not JSON. */
export function typeName(value: unknown): string {
  const type = typeof value
  if (type === 'number' && !Number.isFinite(value)) return String(value)
  if (type !== 'object') return type
  return value === null ? 'null' : Array.isArray(value) ? 'array' : type
}

// The same set as in `src/kernel/json/deceptive.ts`, which a test compares. Not imported: the engine is loaded on demand, and a
// bundler keeps it in one chunk only if it shares nothing with the kernel.
const deceptive = /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** Returns a JSON value as a short text on one line. */
export function show(value: unknown): string {
  const short = typeof value === 'string' ? value.slice(0, shownLength) : value
  const text = (JSON.stringify(short) ?? String(value)).replace(deceptive, escapeOf)
  return text.length > shownLength || short !== value ? text.slice(0, shownLength - 1) + '…' : text
}

/** Describes the value that was found: its type, and the value itself if it is a string, number or boolean. */
function got(value: unknown): string {
  const type = typeName(value)
  return ['string', 'number', 'boolean'].includes(type) ? `${type} ${show(value)}` : type
}

function list(items: readonly string[]): string {
  return items.slice(0, listLength).join(', ') + (items.length > listLength ? ', …' : '')
}

function mustBe(allowed: readonly string[], came: string): string {
  return `must be ${allowed.length > 1 ? 'one of ' : ''}${list(allowed)}, got ${came}`
}

/** Records that the value has another type, or is not one of the allowed values. */
export function misfitChoice(run: Run, kind: 'type' | 'value', allowed: readonly string[], value: unknown): false {
  if (isEnough(run)) return false
  const came = got(value)
  // Alternatives collect allowed values. One more than is shown is enough for the ellipsis.
  allowed = allowed.slice(0, listLength + 1)
  run.findings!.push({ message: mustBe(allowed, came), path: [...run.path], kind, allowed, got: came })
  return false
}

/** Returns the finding that best rules out a branch: a wrong type here, or a wrong constant here or one level below. */
function deciding(branch: readonly Finding[], depth: number): Finding | undefined {
  return (
    branch.find(({ kind, path }) => kind === 'type' && path.length === depth) ??
    branch.find(({ kind, path }) => kind === 'value' && path.length <= depth + 1)
  )
}

/** Records why no alternative fits: the closest one's findings, or one list of what all of them allow at one path. */
export function explainAlternatives(branches: readonly (readonly Finding[])[], run: Run): void {
  const depth = run.path.length
  const rated = branches.map((findings, index) => {
    const decisive = deciding(findings, depth)
    return { findings, index, decisive, distance: ['value', 'type'].indexOf(decisive?.kind ?? '') }
  })
  const least = Math.min(...rated.map(({ distance }) => distance))
  const nearest = rated.filter(({ distance }) => distance === least)
  const { kind, path, got: came } = nearest[0]!.decisive ?? {}
  if (kind && path && nearest.every(({ decisive }) => String(decisive!.path) === String(path))) {
    const allowed = [...new Set(nearest.flatMap(({ decisive }) => decisive!.allowed!))]
    add(run, { message: mustBe(allowed, came!), path, kind, allowed, got: came })
    return
  }
  const closest = nearest.reduce((best, other) => (other.findings.length < best.findings.length ? other : best))
  const head = `fits none of ${branches.length} alternatives; the closest is number ${closest.index + 1}`
  add(run, { message: head, path: [...run.path] })
  for (const finding of closest.findings) add(run, finding)
}

function add(run: Run, finding: Finding): void {
  if (!isEnough(run)) run.findings!.push(finding)
}

/** Records a property name that the schema does not allow. */
export function misfitUnknown(run: Run, name: string, names: readonly string[], value: object): false {
  return misfit(run, () => {
    spend(run, names.length)
    spend(run, names.length)
    const meant = nearestName(name, names)
    const hint = meant === undefined || Object.hasOwn(value, meant) ? '' : ` did you mean ${show(meant)}?`
    return `unknown property ${show(name)};${hint} allowed: ${list(names.slice(0, listLength + 1).map((each) => show(each).slice(1, -1))) || 'none'}`
  })
}

/** Returns the name that was probably meant: it differs in at most two neighbouring letters. */
function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const lowerName = name.toLowerCase()
  return candidates.find((candidate) => {
    const meant = candidate.toLowerCase()
    const shorter = Math.min(lowerName.length, meant.length)
    let before = 0
    while (before < shorter && lowerName[before] === meant[before]) before++
    let after = 0
    while (after < shorter - before && lowerName.at(-1 - after) === meant.at(-1 - after)) after++
    return before + after > 0 && Math.max(lowerName.length, meant.length) - before - after < 3
  })
}
