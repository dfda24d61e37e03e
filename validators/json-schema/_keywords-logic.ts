import { explainAlternatives } from './_messages.ts'
import { type Finding, misfit, type Test, testBranch, testQuietly } from './_run.ts'
import type { Site } from './_site.ts'

/** Compiles `allOf`, `anyOf`, `oneOf`, `not`, and `if` with `then` and `else`. */
export function logicKeywords(site: Site): void {
  const { schema, anything } = site
  for (const part of (schema['allOf'] ?? []) as unknown[]) anything.push(site.beside(part))
  if (schema['anyOf'] !== undefined) anything.push(alternativesTest(site, schema['anyOf'] as unknown[], Infinity))
  if (schema['oneOf'] !== undefined) anything.push(alternativesTest(site, schema['oneOf'] as unknown[], 1))
  if (schema['not'] !== undefined) {
    const test = site.beside(schema['not'])
    anything.push((value, run) => !testQuietly(test, value, run) || misfit(run, () => 'must not fit "not"'))
  }
  if (schema['if'] !== undefined) anything.push(conditionTest(site))
}

function alternativesTest(site: Site, schemas: readonly unknown[], most: number): Test {
  const tests = schemas.map((schema) => site.beside(schema))
  return (value, run, evaluated) => {
    const outer = run.findings
    const failures: Finding[][] = []
    const fitting: number[] = []
    for (const [index, test] of tests.entries()) {
      if (outer !== null) run.findings = []
      const fits = testBranch(test, value, run, evaluated)
      if (fits) fitting.push(index + 1)
      else if (outer !== null) failures.push(run.findings!)
      // If evaluated items and properties are recorded, every alternative must be tested.
      if (fitting.length > most || (fits && most > 1 && evaluated === null)) break
    }
    run.findings = outer
    if (fitting.length > most) {
      return misfit(run, () => `fits alternatives ${fitting.join(' and ')}; must fit exactly one`)
    }
    if (fitting.length > 0) return true
    if (outer !== null) explainAlternatives(failures, run)
    return false
  }
}

function conditionTest(site: Site): Test {
  const { schema } = site
  const condition = site.beside(schema['if'])
  const consequence = site.beside(schema['then'] ?? true)
  const alternative = site.beside(schema['else'] ?? true)
  return (value, run, evaluated) => {
    return (testQuietly(condition, value, run, evaluated) ? consequence : alternative)(value, run, evaluated)
  }
}
