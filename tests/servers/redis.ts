import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { startServer, type ServerChild } from './_child.ts'

/** A Redis server for tests. */
export interface RedisServer {
  readonly url: string
  /** Ends it without a warning and starts it again on what its log has, if it is ours to end. */
  crash?(): Promise<void>
  stop(): Promise<void>
}

/**
 * The server of `$REDIS_URL`; else one of our own, in a new directory and on a socket therein, which ends with this process
 * whatever becomes of it; else the reason why there is none.
 */
export async function startRedis(): Promise<RedisServer | string> {
  const address = process.env['REDIS_URL']
  if (address) return { url: address, stop: async () => {} }
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
  } catch {
    return 'there is no Redis: set REDIS_URL, or install redis-server'
  }
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-redis-'))
  const socket = join(directory, 'redis.sock')
  const options = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', '', '--appendonly', 'yes']
  const durable = [...options, '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  let child: ServerChild

  async function start(): Promise<void> {
    child = startServer(['redis-server', ...durable], 'KILL', { cwd: directory })
    await accepting(socket)
  }

  await start()
  return {
    url: `unix://${socket}`,
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

async function accepting(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new Redis({ path, lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.ping()
      client.disconnect()
      return
    } catch (error) {
      client.disconnect()
      if (attempt === 600) throw error
      await pause(50)
    }
  }
}
