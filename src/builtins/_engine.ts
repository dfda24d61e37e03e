import type { RE2JS } from 're2js'
import { refusal } from './_words.ts'

/** The most steps that a pattern may compile to: the time of a match grows with them. */
const mostMachineSteps = 10_000
const longestSearchPattern = 1_000

type Engine = typeof RE2JS

/**
 * Compiles a pattern to an engine whose time is linear in the text.
 *
 * @throws `ToolFailure` if it is not valid, or too large.
 */
export async function compiledPattern(pattern: string, flags: { readonly ignoreCase?: boolean } = {}): Promise<RE2JS> {
  const engine = await loadRe2()
  if (pattern.length > longestSearchPattern * 8)
    throw refusal(`The pattern is longer than ${longestSearchPattern} characters.`)
  let machine: RE2JS
  try {
    machine = engine.compile(pattern, flags.ignoreCase === true ? engine.CASE_INSENSITIVE : 0)
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^error parsing regexp: /, '').slice(0, 200)
    throw refusal(
      `The pattern is not valid in the syntax of RE2, which has no lookaround and no references to groups: ${reason}.`,
    )
  }
  if (machine.programSize() > mostMachineSteps)
    throw refusal('The pattern is too large: use fewer or smaller counted repeats.')
  return machine
}

async function loadRe2(): Promise<Engine> {
  try {
    return (await import('re2js')).RE2JS
  } catch {
    throw refusal('Patterns need the package re2js, which is not installed here.', 'Tell the host to install re2js.')
  }
}
