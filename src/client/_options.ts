import type { ToolExecutor } from '../index.ts'
import type { OptionCheck } from '../extension.ts'

/** Takes an executor. */
export const executorOption: OptionCheck = {
  expected: 'an executor of createExecutor({ tools })',
  accepts: (value) => typeof (value as ToolExecutor | null)?.calls?.waiting === 'function',
  isRequired: true,
}

/** Takes the token that clients send in a header. */
export const tokenOption: OptionCheck = {
  expected: 'a string of printable ASCII characters without spaces',
  accepts: (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
  isSecret: true,
}

/** Takes names of hosts, without ports. */
export const hostNames: OptionCheck = {
  expected: 'a list of host names',
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}

/** Takes what `pageTools` makes. */
export const pageToolsOption: OptionCheck = {
  expected: 'the tools of pages, which pageTools() makes,',
  accepts: (value) => typeof value === 'object' && value !== null,
}
