import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Extension, ToolCall, ToolLike } from 'toolwright'
import { cassette, type CassetteOptions, type Tape } from 'toolwright/testing/cassettes'
import { afterAll } from 'vitest'
import { executorOf, runCalls, type Outcomes } from './_world.ts'

/** Makes a folder for the tapes of a test file. Returns a function that gives a new path each time. */
export function tapeFolder(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'tapes-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let count = 0
  return () => join(folder, `${count++}.jsonl`)
}

/** Returns the files of a tape: its own, and those of large texts and bytes. */
export function filesOf(path: string): string[] {
  const folder = `${path}.files`
  const names = existsSync(folder) ? readdirSync(folder) : []
  return [path, ...names.map((name) => join(folder, name))]
}

export interface TapeRun extends Outcomes {
  readonly tape: Tape
}

/** Makes calls with a tape, and closes the executor. */
export async function runWithTape(
  path: string,
  options: CassetteOptions,
  tools: readonly ToolLike[],
  calls: readonly ToolCall[],
  ...use: readonly Extension[]
): Promise<TapeRun> {
  const tape = cassette(path, { report: () => {}, ...options })
  const executor = executorOf(tools, ...use, tape)
  const outcomes = await runCalls(executor, calls)
  await executor.close()
  return { ...outcomes, tape }
}

/** Returns the message of what a function throws; an empty text if it throws nothing. */
export function thrownWords(work: () => void): string {
  try {
    work()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
