import { InvalidConfigurationError } from '../errors.ts'
import type { Extension } from '../index.ts'

/** Every member of an extension. The type keeps the list complete. */
const members: Readonly<Record<keyof Extension, true>> = {
  policies: true,
  approver: true,
  middleware: true,
  gates: true,
  repair: true,
  runners: true,
  store: true,
  records: true,
  observers: true,
  elsewhere: true,
  tools: true,
  isGuest: true,
  offers: true,
  onToolsChange: true,
  guide: true,
  close: true,
}

/**
 * Makes an extension of the members of another, without some of them. Its functions stay methods of that one, which may be an
 * instance of a class with private fields.
 */
export function partOf(extension: Extension, leftOut: (member: keyof Extension) => boolean): Extension {
  const part: Record<string, unknown> = {}
  for (const member of Object.keys(members) as (keyof Extension)[]) {
    if (leftOut(member)) continue
    const value: unknown = extension[member]
    if (value !== undefined) part[member] = typeof value === 'function' ? value.bind(extension) : value
  }
  return part
}

/**
 * Refuses what is no options of an executor. An executor itself would pass, and the new one would have no tools.
 *
 * @param owner The function that takes them, for the error.
 */
export function requireExecutorOptions(owner: string, options: unknown): void {
  const { execute } = Object(options) as { readonly execute?: unknown }
  if (typeof options === 'object' && options !== null && execute === undefined) return
  throw new InvalidConfigurationError(
    `\`${owner}\` takes the options of an executor, and not the executor: ${owner}({ tools, use }).`,
  )
}
