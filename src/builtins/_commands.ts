import { randomBytes } from 'node:crypto'
import { releaseGuard, takeGuard, type Guard } from './_guard.ts'
import { Ring, visibleText, wholeLength } from './_output.ts'
import { letGo, requireCommand, startProgram, type Program, type RunningProgram } from './_shell.ts'
import { refusal } from './_words.ts'
import type { ExecOptions, ExecResult, Job, JobLogs } from './sandbox.ts'

/** Bytes that are kept of the output of a command in the background. */
const keptOfJobs = 1_048_576

/** The commands of a sandbox that run. */
export class Commands {
  readonly #programOf: (command: string, options: ExecOptions) => Promise<Program>
  readonly #running = new Set<RunningProgram>()
  #guard: Guard | undefined
  #isClosed = false

  constructor(programOf: (command: string, options: ExecOptions) => Promise<Program>) {
    this.#programOf = programOf
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    return (await this.#start(command, options)).done
  }

  async execBackground(command: string, options: ExecOptions = {}): Promise<Job> {
    const ring = new Ring(keptOfJobs)
    const running = await this.#start(command, {
      ...options,
      timeout: options.timeout ?? Infinity,
      onOutput(stream, bytes) {
        ring.push(bytes)
        return options.onOutput?.(stream, bytes)
      },
    })
    let result: ExecResult | undefined
    const done = running.done.then((ended) => (result = ended))
    done.catch(() => {})
    return {
      id: `job_${randomBytes(9).toString('base64url')}`,
      logs: (since = 0, maximumBytes = 32_768) => logsOf(ring, since, maximumBytes, result),
      async kill() {
        running.stop()
        await done.catch(() => {})
      },
      done,
    }
  }

  async run(program: Program, options: ExecOptions): Promise<ExecResult> {
    return this.#begin(program, options).done
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#running]
    for (const each of running) each.stop()
    await Promise.allSettled(running.map(({ done }) => done))
    if (this.#guard !== undefined) releaseGuard(this.#guard)
    this.#guard = undefined
  }

  async #start(command: string, options: ExecOptions): Promise<RunningProgram> {
    requireCommand(command)
    return this.#begin(await this.#programOf(command, options), options)
  }

  #begin(program: Program, options: ExecOptions): RunningProgram {
    if (this.#isClosed) {
      letGo(program)
      program.onEnd?.()
      throw refusal('The sandbox is closed.')
    }
    const running = this.#started(program, (this.#guard ??= takeGuard()), options)
    this.#running.add(running)
    const forget = (): void => {
      this.#running.delete(running)
      program.onEnd?.()
    }
    running.done.then(forget, forget)
    return running
  }

  #started(program: Program, guard: Guard, options: ExecOptions): RunningProgram {
    try {
      return startProgram(program, guard, options)
    } catch (error) {
      program.onEnd?.()
      throw error
    }
  }
}

function logsOf(ring: Ring, since: number, maximumBytes: number, result: ExecResult | undefined): JobLogs {
  if (!Number.isSafeInteger(since) || since < 0) throw refusal('`since` is the `next` of the logs before, or 0.')
  const from = Math.min(Math.max(since, ring.first), ring.total)
  const bytes = ring.slice(from, Math.min(ring.total, from + maximumBytes))
  const isLast = result !== undefined && from + bytes.length === ring.total
  const completeBytes = isLast ? bytes : bytes.subarray(0, wholeLength(bytes))
  const lost = from - since
  const note = lost > 0 ? `[… ${lost.toLocaleString('en')} bytes are no longer kept …]\n` : ''
  const state = result === undefined ? 'running' : 'exited'
  return {
    text: note + visibleText(completeBytes),
    next: from + completeBytes.length,
    state,
    exitCode: result?.exitCode ?? null,
  }
}
