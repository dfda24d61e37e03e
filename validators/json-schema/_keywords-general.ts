import { isEqual } from './_equality.ts'
import { misfitChoice, show, typeName } from './_messages.ts'
import type { Test } from './_run.ts'
import type { Site } from './_site.ts'

/** Compiles `type`, `const` and `enum`. */
export function generalKeywords(site: Site): void {
  const { schema, anything } = site
  if (!site.asserts) return
  if (schema['type'] !== undefined) anything.push(typeTest(schema['type'] as string | string[]))
  if ('const' in schema) anything.push(choiceTest([schema['const']]))
  if (schema['enum'] !== undefined) anything.push(choiceTest(schema['enum'] as unknown[]))
}

function typeTest(type: string | string[]): Test {
  const types = typeof type === 'string' ? [type] : type
  const names = new Set(types)
  const [first] = types
  const isInteger = names.has('integer')
  return (value, run) => {
    const name = typeName(value)
    return (
      name === first ||
      (types.length > 1 && names.has(name)) ||
      (isInteger && Number.isInteger(value)) ||
      misfitChoice(run, 'type', types, value)
    )
  }
}

function choiceTest(choices: readonly unknown[]): Test {
  const simple = new Set(choices.filter((choice) => typeof choice !== 'object' || choice === null))
  const structured = choices.filter((choice) => typeof choice === 'object' && choice !== null)
  let choiceTexts: string[] | undefined
  return (value, run) =>
    simple.has(value) ||
    (typeof value === 'object' && value !== null && structured.some((choice) => isEqual(value, choice, run))) ||
    (run.findings !== null && misfitChoice(run, 'value', (choiceTexts ??= choices.map(show)), value))
}
