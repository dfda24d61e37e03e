import { readdirSync, readFileSync } from 'node:fs'

/** The processes of this machine whose command line or environment has a mark. */
export function withMark(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => ['cmdline', 'environ'].some((file) => textOf(name, file).includes(mark)))
    .map(Number)
}

/** Ends processes by their numbers. */
export function end(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has gone
    }
  }
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
