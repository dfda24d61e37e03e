import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startServer, type ServerChild } from './_child.ts'

/** A Postgres server for tests. */
export interface PostgresServer {
  readonly connectionString: string
  /** Where it listens, for a proxy: a port of a host, or a socket in the file system. */
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string }
  /** Ends it without a warning and starts it again, where it is ours to end. */
  crash?(): Promise<void>
  stop(): Promise<void>
}

/**
 * The server of `$POSTGRES_URL`; else one of our own, in a new directory and on a socket therein, which ends with this
 * process whatever becomes of it; else the reason why there is none.
 */
export async function startPostgres(): Promise<PostgresServer | string> {
  const connectionString = process.env['POSTGRES_URL']
  if (connectionString) {
    const { hostname: host, port } = new URL(connectionString)
    return { connectionString, address: { host, port: Number(port || 5432) }, stop: async () => {} }
  }
  const binaries = directoryOfBinaries()
  if (binaries === undefined) return 'there is no Postgres: set POSTGRES_URL, or install the server (initdb is missing)'
  const user = userOfServers()
  if (user === undefined) return 'there is no user postgres: root may not run a Postgres server'

  const directory = mkdtempSync(join(tmpdir(), 'toolwright-postgres-'))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const asUser = { ...user, cwd: directory, stdio: 'ignore' as const }
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'toolwright', '--auth=trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    asUser,
  )
  // A crash of the machine is not what is tested: what the system was given, it keeps.
  const options = [
    '-D',
    data,
    '-k',
    directory,
    '-c',
    'listen_addresses=',
    '-c',
    'fsync=off',
    '-c',
    'max_connections=300',
  ]
  const url = `postgresql://toolwright@${encodeURIComponent(directory)}/postgres`
  let child: ServerChild

  async function start(): Promise<void> {
    child = startServer([join(binaries ?? '', 'postgres'), ...options], 'QUIT', asUser)
    await accepting(url)
  }

  await start()
  return {
    connectionString: url,
    address: { path: join(directory, '.s.PGSQL.5432') },
    async crash() {
      await child.end()
      await start()
    },
    async stop() {
      await child.end()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function directoryOfBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const candidates = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ]
  return candidates.find((directory) => existsSync(join(directory, 'initdb')))
}

/** Postgres refuses to run as root. */
export function userOfServers(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {}
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** Waits until a server accepts connections. */
export async function accepting(connectionString: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (attempt === 600) throw error
      await pause(50)
    }
  }
}
