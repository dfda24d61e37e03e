import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** A program of this folder that runs in a process of its own. */
export interface RunningProgram<Line> {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** The first line on its stdout. */
  readonly said: Promise<Line>
  readonly log: () => string
  readonly ended: Promise<string | number | null>
}

/** Starts a program of this folder. */
export function startProgram<Line>(file: string, ...args: readonly string[]): RunningProgram<Line> {
  const path = join(import.meta.dirname, file)
  const child = spawn(process.execPath, ['-C', '@toolwright/source', path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let log = ''
  child.stderr.on('data', (piece: Buffer) => void (log += piece.toString()))
  const ended = new Promise<string | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  const said = new Promise<Line>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString()
      const end = output.indexOf('\n')
      if (end >= 0) resolve(JSON.parse(output.slice(0, end)) as Line)
    })
    child.once('close', () => reject(new Error(`it ended without a word: ${log}`)))
  })
  said.catch(() => {}) // a test may wait for its end alone
  return { child, said, ended, log: () => log }
}
