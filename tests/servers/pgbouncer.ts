import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from './_child.ts'
import { accepting, userOfServers, type PostgresServer } from './postgres.ts'

/** A pooler before a Postgres server. */
export interface Pooler {
  readonly connectionString: string
  stop(): Promise<void>
}

/**
 * Starts PgBouncer, which gives a client one of few connections for each transaction. Ends with this process whatever becomes of
 * it. Returns the reason if there is none.
 */
export async function startPgbouncer({ connectionString }: PostgresServer): Promise<Pooler | string> {
  const program = '/usr/sbin/pgbouncer'
  const user = userOfServers()
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore', ...user })
  } catch {
    return 'there is no PgBouncer: install pgbouncer'
  }
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-pgbouncer-'))
  const { hostname, port, username, password, pathname } = new URL(connectionString)
  const target = [
    `host=${decodeURIComponent(hostname)}`,
    `port=${port || 5432}`,
    `user=${decodeURIComponent(username)}`,
    ...(password === '' ? [] : [`password=${decodeURIComponent(password)}`]),
    `dbname=${pathname.slice(1)}`,
  ]
  const settings = ['pool_mode=transaction', 'default_pool_size=2', 'auth_type=any', 'listen_addr=', 'listen_port=6432']
  const file = join(directory, 'pgbouncer.ini')
  const lines = ['[databases]', `postgres = ${target.join(' ')}`, '[pgbouncer]', `unix_socket_dir=${directory}`]
  writeFileSync(file, [...lines, ...settings, ''].join('\n'))
  if (user?.uid !== undefined && user.gid !== undefined)
    for (const path of [directory, file]) chownSync(path, user.uid, user.gid)
  const child = startServer([program, '-q', file], 'TERM', { ...user, cwd: directory })
  const url = `postgresql://${username}@${encodeURIComponent(directory)}:6432/postgres`
  await accepting(url)
  return {
    connectionString: url,
    async stop() {
      await child.end()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
