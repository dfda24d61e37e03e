import { spawn, type SpawnOptions } from 'node:child_process'

/** A server that ends with this process, whatever becomes of it. */
export interface ServerChild {
  /** Ends it, and waits for its end. */
  end(): Promise<void>
}

/**
 * Starts a server in a directory of its own, which goes too if this process is killed.
 *
 * @param signal What ends it: `QUIT`, `TERM` or `KILL`.
 */
export function startServer(
  command: readonly string[],
  signal: 'QUIT' | 'TERM' | 'KILL',
  options: SpawnOptions & { readonly cwd: string },
): ServerChild {
  // The shell ends the server when it is told so, or when the process that could tell it is gone.
  const script = `"$@" & read _ || gone=yes; kill -${signal} $!; wait $!; [ -z "$gone" ] || rm -rf "$PWD"`
  const shell = spawn('sh', ['-c', script, 'sh', ...command], { ...options, stdio: ['pipe', 'ignore', 'ignore'] })
  return {
    async end() {
      const ended = new Promise((resolve) => shell.on('close', resolve))
      shell.stdin?.write('end\n')
      await ended
    },
  }
}
