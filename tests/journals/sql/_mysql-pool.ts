// A pool with the methods of `mysql2/promise` over a file of SQLite, which takes the place of a server. It refuses what MySQL would.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { MysqlConnection, MysqlPool } from './mysql-journal.ts'

/** What SQLite calls something else, or does in a statement of its own. */
function translated(statement: string): string[] {
  const indexes: string[] = []
  const [, table = ''] = /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement) ?? []
  const text = statement
    .replaceAll(' CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin', '')
    .replace(/, INDEX (\w+) (\([^)]*\))/g, (_, index: string, columns: string) => {
      indexes.push(`CREATE INDEX IF NOT EXISTS ${index} ON ${table} ${columns}`)
      return ''
    })
  return [text, ...indexes]
}

/** What MySQL refuses, and SQLite takes. */
function requireMysql(statement: string): void {
  const refused = [
    /\bRETURNING\b|\bON CONFLICT\b|\$\d|\?\d|CREATE INDEX IF|\biif\b|json_each/i,
    /\bAS (?:call|rank|groups|system|window|lead|lag)\b/i, // reserved words
    /\bIN \(SELECT [^)]*\bLIMIT\b/i,
    /\bIN \(\s*\)/, // an empty list
  ]
  const [, target = ''] = /^\s*(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)/i.exec(statement) ?? []
  const readsItself =
    target !== '' && new RegExp(`\\b(?:FROM|JOIN) ${target}\\b`).test(statement.slice(statement.indexOf(target)))
  if (readsItself) refused.push(/^/) // ER_UPDATE_TABLE_USED
  if (refused.some((pattern) => pattern.test(statement)))
    throw Object.assign(new Error(`MySQL refuses ${statement}`), { code: 'ER_PARSE_ERROR' })
}

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  database.function('SYSDATE', { varargs: true }, () => Date.now() / 1_000)
  database.function('UNIX_TIMESTAMP', (seconds) => seconds)
  return database
}

/** Says what is wrong as MySQL does. */
async function inWordsOfMysql<Value>(run: () => Value): Promise<Value> {
  try {
    return run()
  } catch (error) {
    const { errcode } = error as { errcode?: number }
    if (errcode === undefined || ![5, 6].includes(errcode & 0xff)) throw error
    throw Object.assign(new Error('Lock wait timeout exceeded'), { code: 'ER_LOCK_WAIT_TIMEOUT' })
  }
}

/** Answers as a connection does: later. */
async function execute(
  database: DatabaseSync,
  text: string,
  values: readonly unknown[],
): Promise<readonly [unknown, ...unknown[]]> {
  await new Promise((resolve) => setImmediate(resolve))
  requireMysql(text)
  return inWordsOfMysql(() => {
    const [first = '', ...indexes] = translated(text)
    const statement = database.prepare(first)
    if (/^\s*SELECT\b/i.test(first)) return [statement.all(...(values as SQLInputValue[])), []]
    const { changes } = statement.run(...(values as SQLInputValue[]))
    for (const index of indexes) database.exec(index)
    return [{ affectedRows: Number(changes) }, undefined]
  })
}

/** Makes a pool on a file. Its connections are those of SQLite, so that one does not see what another has not committed. */
export function mysqlPool(file: string): MysqlPool & { end(): Promise<void> } {
  const shared = opened(file)
  void inWordsOfMysql(() => shared.exec('PRAGMA journal_mode = WAL')).catch(() => {}) // another pool does it
  const idle: DatabaseSync[] = []
  const all = [shared]
  return {
    execute: (text, values) => execute(shared, text, values),
    async getConnection(): Promise<MysqlConnection> {
      const database = idle.pop() ?? opened(file)
      if (!all.includes(database)) all.push(database)
      return {
        execute: (text, values) => execute(database, text, values),
        beginTransaction: () => inWordsOfMysql(() => database.exec('BEGIN IMMEDIATE')),
        commit: () => inWordsOfMysql(() => database.exec('COMMIT')),
        rollback: () => inWordsOfMysql(() => database.isTransaction && database.exec('ROLLBACK')).then(() => {}),
        release: () => void idle.push(database),
        destroy: () => database.close(),
      }
    },
    async end() {
      for (const database of all) if (database.isOpen) database.close()
    },
  }
}
