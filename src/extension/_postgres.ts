/** What a failed statement of Postgres says of itself. */
export interface PostgresFailure {
  /** The code of the server or of the connection, for a message: neither has what the server wrote, which may name hosts. */
  readonly kind: string
  /** Whether the same statement may succeed later. */
  readonly isRetryable: boolean
}

/** What those who run a server have to know of codes of Postgres and of Node. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['08P01', 'the server or a pooler before it refuses: PgBouncer does for 15 s after its server failed'],
  ['25006', 'the server, or this role, may only read'],
  ['28000', 'the server does not let this role in'],
  ['28P01', 'the password is wrong'],
  ['3D000', 'there is no such database'],
  ['3F000', 'there is no such schema: make it, or name another as `schema`'],
  ['42883', 'a function is missing that was made with the tables: restore it'],
  ['42P01', 'a table is missing: restore it, or start this process again if all its tables are gone'],
  ['42501', 'the role lacks a right: let it use the schema, and make or write the tables'],
  ['53100', 'the disk of the server is full'],
  ['53300', 'the server takes no more connections: raise its limit, or make pools smaller'],
  ['55P03', 'another transaction held a lock for longer than `lock_timeout`'],
  ['57014', 'the server gave up after `statement_timeout`'],
  ['57P01', 'the server was shut down'],
  ['57P03', 'the server is starting or shutting down'],
  ['ECONNREFUSED', 'no server listens there'],
])

const schemes = /^(?:postgres|pg:|socket:|\/)/i

/**
 * Whether the package `pg` could read a text as a connection string. Of any other it makes the name of a database, without a word.
 *
 * @example
 * ```ts
 * import { isPostgresAddress } from 'toolwright/extension'
 *
 * console.log(isPostgresAddress('postgres://localhost/agents'), isPostgresAddress('mysql://localhost/agents')) // true false
 * ```
 */
export function isPostgresAddress(text: string): boolean {
  return text !== '' && !/^(?!postgres|pg:|socket:)[a-z+]+:\/\/|^jdbc:|^[\w.-]+:\d|^\w+=/i.test(text)
}

/**
 * Reads what a statement of Postgres, or the connection for it, failed with.
 *
 * @param error What the pool threw.
 * @param source The pool, or the connection string that it was made from.
 * @example
 * ```ts
 * import { postgresFailure } from 'toolwright/extension'
 *
 * console.log(postgresFailure({ code: '57P02' })) // { kind: '57P02', isRetryable: true }
 * ```
 */
export function postgresFailure(error: unknown, source?: unknown): PostgresFailure {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  const word = typeof code === 'string' ? code : 'no connection'
  const meaning = meanings.get(word)
  const kind = meaning === undefined ? word : `${word}: ${meaning}`
  // Classes 08 (connection), 53 (resources), 57 (shut down), and the codes of Node, which begin with a letter.
  const isRetryable = typeof code !== 'string' || /^(?:08|53|57|[A-Z])/.test(code)
  const isBare = typeof source === 'string' && !schemes.test(source)
  return {
    kind: isBare ? `${word}; the connection string lacks postgres:// and was taken for the name of a database` : kind,
    isRetryable,
  }
}
