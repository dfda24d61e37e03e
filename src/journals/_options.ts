import type { OptionCheck } from '../extension.ts'

/** Takes a name that needs no escaping in SQL. */
export const nameInTables: OptionCheck = {
  expected: 'lower-case letters, digits and underscores, 40 at most,',
  accepts: (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,39}$/.test(value),
}
