import { mkdtempSync, rmSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import type { Extension, ToolEventOf, ToolExecutor } from 'toolwright'
import { onTestFinished } from 'vitest'
import { executorOn, runsOf } from './_tools.ts'

/** An executor over one file of records, with the tools that every host is tested with. */
export interface Kit {
  readonly file: string
  readonly executor: ToolExecutor
  /** A line for each run of a handler, in every process that has the file. */
  readonly runs: () => string[]
  readonly settled: ToolEventOf<'call:settled'>[]
  /** Resolves when the tool `wait` runs. */
  readonly waits: Promise<void>
}

/** The file of records of one test. */
export function journalFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'calls.db')
}

/** Makes an executor that is closed after the test. */
export function createKit(file: string = journalFile(), use: readonly Extension[] = []): Kit {
  const { promise: waits, resolve } = Promise.withResolvers<void>()
  const executor = executorOn(file, use, resolve)
  onTestFinished(() => executor.close())
  const settled: Kit['settled'] = []
  executor.on('call:settled', (event) => void settled.push(event))
  return { file, executor, runs: () => runsOf(file), settled, waits }
}

/** Runs a module of this folder in another process, with its input as JSON. Returns what it printed, as JSON. */
export async function inProcess<Value>(module: string, input: unknown): Promise<Value> {
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const path = join(import.meta.dirname, module)
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, JSON.stringify(input)], {
    maxBuffer: 2 ** 24,
  })
  return JSON.parse(stdout) as Value
}

/** A call of the model. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/** What became of one call, as the model and the person saw it. */
export interface Seen {
  /** What the model reads as the result; `undefined` if the framework stopped before there was one. */
  readonly words: string | undefined
  /** Whether the framework asked a person. */
  readonly isAsked: boolean
}

/** A framework, with a model that makes one call. */
export interface Driver {
  readonly name: string
  /** Set if the framework itself asks no person: then the host answers with `executor.decide`. */
  readonly asksNoPerson?: true
  /** Lets the model make a call, and gives the answer if a person is asked. Without an answer it stops there. */
  run(
    kit: Kit,
    call: Call,
    options?: { readonly answer?: 'allow' | 'deny'; readonly signal?: AbortSignal; readonly session?: string },
  ): Promise<Seen>
}
