import { pointerSteps } from '../kernel/json/text.ts'
import type { Issue } from '../kernel/schema/standard.ts'

/** Returns issues without the validator's message about a secret or its container, and without keys within a secret. */
export function redactIssues(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[] {
  if (secrets.length === 0) return issues
  const pointers = secrets.map(pointerSteps)
  return issues.map((issue) => {
    const lengths = pointers.flatMap((steps) => nearness(issue.path, steps) ?? [])
    if (lengths.length === 0) return issue
    return { message: 'must be what the schema of the tool says', path: issue.path.slice(0, Math.min(...lengths)) }
  })
}

/** Returns how many steps of a path may be shown if it touches a secret. Returns `undefined` if it does not. */
function nearness(path: readonly PropertyKey[], steps: readonly string[]): number | undefined {
  let depth = 0
  for (const [index, key] of path.entries()) {
    if (depth === steps.length) return index
    if (String(key) === steps[depth]) depth++
    else if (!/^\d+$/.test(String(key))) return undefined // the index of an array to whose items the pointer applies
  }
  return path.length
}
