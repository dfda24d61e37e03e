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
