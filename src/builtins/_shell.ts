import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setImmediate as yieldLoop, setTimeout as pause } from 'node:timers/promises'
import { timerLength } from '../extension.ts'
import type { Guard } from './_guard.ts'
import { Ends } from './_output.ts'
import type { FileOwner } from './_held-directory.ts'
import { refusal } from './_words.ts'
import type { ExecOptions, ExecResult } from './sandbox.ts'

const longestCommand = 102_400
/** How long a command may take to end by itself after SIGTERM, in milliseconds. */
const grace = 2_000
/** How long pipes may stay silent after the shell has ended, if a process that left its group holds them. */
const silence = 250
/** How often such pipes are looked at, and how long after each other, in milliseconds. */
const mostPipeLooks = 80
const look = 25

/** What is started for a command. */
export interface Program {
  readonly argv: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: FileOwner | undefined
  /** Written to descriptor 3 once a guard holds the program. It waits for that before it starts anything, and ends without it. */
  readonly go: string
  /** Written to descriptor 4. */
  readonly filter?: Uint8Array
  /** Descriptors of this process for those from 5 on. They are closed here once the program runs, or is not to run. */
  readonly held?: readonly number[]
  /** Whether its child takes all others with it when it ends, and so has nothing to do before. */
  readonly hasInit?: boolean
  /** Called once it has ended, or is not to run. */
  readonly onEnd?: () => void
}

/** @throws `ToolFailure` if a command cannot be given to a shell as it is. */
export function requireCommand(command: string): void {
  if (typeof command !== 'string' || command === '' || command.includes('\0')) {
    throw refusal('A command is a text that is not empty, without NUL.')
  }
  if (Buffer.byteLength(command) > longestCommand) {
    throw refusal(`A command has at most ${longestCommand.toLocaleString('en')} bytes. Write a script, and run it.`)
  }
}

/**
 * Returns a shell's command that closes the descriptors above 2. Node does not close those that it inherited itself.
 *
 * @param descriptors The directory that lists them.
 */
function closeInherited(descriptors = '/proc/self/fd'): string {
  return `for fd in ${descriptors}/*; do fd=\${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"; done`
}

/** What a shell of this machine waits for. */
export const go = 'go\n'

/** Returns the arguments that run a command in a shell without other descriptors, once there is `go` on descriptor 3. */
export function shellFor(command: string): [program: string, ...args: string[]] {
  const close = closeInherited(process.platform === 'linux' ? undefined : '/dev/fd')
  return ['/bin/bash', '-c', `read -r -u 3 || exit 137; ${close}; exec /bin/bash -c "$1"`, 'bash', command]
}

/** @throws `ToolFailure` if a platform has no process groups, and so nothing that would end what a command started. */
export function requireProcessGroups(platform: string = process.platform): void {
  if (platform !== 'win32') return
  throw refusal(
    'This sandbox runs no commands on Windows: nothing there would end what a command started.',
    'Use the tools for files.',
  )
}

/**
 * Returns the arguments that run a command below a shell which is the first process of a sandbox.
 *
 * @param limits A shell's command that has to succeed before.
 * @param paths Each must be what the descriptor is that stands for it, from 5 on: what was swapped meanwhile is not shown.
 */
export function firstShellFor(
  command: string,
  limits: string,
  paths: readonly string[] = [],
): [program: string, ...args: string[]] {
  const script = [
    'n=5; for path in "${@:2}"; do',
    '  [ "$path" -ef "/proc/self/fd/$n" ] || { echo "$path was swapped while the sandbox was set up." >&2; exit 1; }',
    '  n=$((n + 1))',
    'done',
    closeInherited(),
    'exec 3>&2 2> /dev/null', // the shell itself says nothing of how the command ended
    `(exec 2>&3 3>&-; ${limits} && exec /bin/bash -c "$1")`,
    'exit',
  ]
  return ['/bin/bash', '-c', script.join('\n'), 'bash', command, ...paths]
}

// Names such as LC_SECRET are no locale: remote shells let them through, and people put anything into them.
const allowedVariable =
  /^(?:PATH|LANG|TZ|LC_(?:ALL|ADDRESS|COLLATE|CTYPE|IDENTIFICATION|MEASUREMENT|MESSAGES|MONETARY|NAME|NUMERIC|PAPER|TELEPHONE|TIME))$/

/** Returns the environment of commands: by a list of names, so that no secret of the host is in it. */
export function environment(home: string, added: Readonly<Record<string, string>> = {}): Record<string, string> {
  const env: Record<string, string> = { PATH: '/usr/local/bin:/usr/bin:/bin' }
  for (const [name, value] of Object.entries(process.env))
    if (allowedVariable.test(name) && value !== undefined) env[name] = value
  for (const [name, value] of Object.entries({ ...env, TERM: 'dumb', HOME: home, ...added })) {
    if (name === '' || /[=\0]/.test(name) || String(value).includes('\0')) {
      throw refusal(`The environment has no variable ${JSON.stringify(name)}: a name has no "=" and no NUL.`)
    }
    env[name] = String(value)
  }
  return env
}

/** A program that runs. */
export interface RunningProgram {
  /** Ends it, at first politely. */
  stop(): void
  /** Never rejects for what the command does. */
  readonly done: Promise<ExecResult>
}

/**
 * Starts a program in a process group of its own. Its end, its timeout and an abort end the whole group.
 *
 * @param guard Ends the group if this process has ended.
 */
export function startProgram(
  program: Program,
  guard: Guard,
  { timeout = 120_000, signal, onOutput }: ExecOptions,
): RunningProgram {
  const child = spawned(program, signal)
  const group = new Group(child, program.hasInit)
  const [input, filter] = child.stdio.slice(3) as [Writable, Writable | null]
  for (const each of [input, filter]) each?.on('error', () => {}) // the program ended before it read
  filter?.end(program.filter)
  const { pid } = child
  const held = pid === undefined ? group.exited : guard.hold(pid)
  const release = (): void => {
    if (pid !== undefined) guard.release(pid)
  }
  group.exited.then(release, release)
  const begun = held.then(() => input.end(program.go))
  begun.catch(() => group.stop())
  let timedOut = false
  const timer =
    timeout === Infinity || timeout === 0
      ? undefined
      : setTimeout(() => {
          timedOut = true
          group.stop()
        }, timerLength(timeout))
  const abort = (): void => group.stop()
  signal?.addEventListener('abort', abort, { once: true })
  const stdout = new PipeReader(child.stdout as Readable, (bytes) => onOutput?.('stdout', bytes))
  const stderr = new PipeReader(child.stderr as Readable, (bytes) => onOutput?.('stderr', bytes))
  const end = async (): Promise<ExecResult> => {
    try {
      const { code, by } = await group.exited
      await begun
      await Promise.all([stdout.toEnd(), stderr.toEnd()])
      return { exitCode: code, signal: by, timedOut, stdout: stdout.ends.toOutput(), stderr: stderr.ends.toOutput() }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      input.destroy()
      filter?.destroy()
      stdout.close()
      stderr.close()
    }
  }
  const done = end()
  done.catch(() => {})
  return { stop: () => group.stop(), done }
}

function spawned(program: Program, signal: AbortSignal | undefined): ChildProcess {
  const [file, ...args] = program.argv
  const { cwd, env, user, filter, held = [] } = program
  try {
    signal?.throwIfAborted()
    return spawn(file, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', filter === undefined ? 'ignore' : 'pipe', ...held],
      ...user,
    })
  } finally {
    letGo(program)
  }
}

/** Closes the descriptors that a program holds of this process. */
export function letGo({ held = [] }: Program): void {
  for (const descriptor of held) closeSync(descriptor)
}

/** The process group of a child. */
class Group {
  readonly #child: ChildProcess
  readonly #hasInit: boolean
  readonly exited: Promise<{ readonly code: number | null; readonly by: string | null }>
  #hasExited = false
  #isStopping = false

  constructor(child: ChildProcess, hasInit = false) {
    this.#child = child
    this.#hasInit = hasInit
    this.exited = new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(refusal(`The command could not be started: ${cause.message}`)))
      child.once('exit', (code, by) => {
        this.#send('SIGKILL') // what the shell left behind
        this.#hasExited = true
        resolve({ code, by })
      })
    })
  }

  stop(): void {
    if (this.#isStopping || this.#hasExited) return
    this.#isStopping = true
    if (this.#hasInit) return this.#send('SIGKILL')
    this.#send('SIGTERM')
    this.#send('SIGCONT') // a stopped process gets the signal only when it goes on
    const timer = setTimeout(() => this.#send('SIGKILL'), grace)
    const clear = (): void => clearTimeout(timer)
    this.exited.then(clear, clear)
  }

  #send(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined || this.#hasExited) return
    try {
      process.kill(-pid, signal)
    } catch {
      // it has gone
    }
  }
}

/** Reads one pipe. While a piece is handled, no more is read. */
class PipeReader {
  readonly ends = new Ends()
  readonly #stream: Readable
  readonly #closed: Promise<void>
  #handling: Promise<void> | undefined
  #lastPiece = performance.now()

  constructor(stream: Readable, take: (bytes: Uint8Array) => void | Promise<void>) {
    this.#stream = stream
    this.#closed = new Promise((resolve) => {
      stream.once('close', resolve)
    })
    stream.on('error', () => {})
    stream.on('data', (bytes: Buffer) => {
      this.ends.push(bytes)
      this.#lastPiece = performance.now()
      const taking = take(bytes)
      if (taking === undefined) return
      stream.pause()
      this.#handling = taking
        .then(
          () => {},
          () => {}, // the taker reports its own failure
        )
        .then(() => {
          this.#handling = undefined
          this.#lastPiece = performance.now()
          stream.resume()
        })
    })
  }

  /** Resolves when the pipe has ended, or only processes that left the group hold it. */
  async toEnd(): Promise<void> {
    this.#lastPiece = performance.now() // silence counts from here: a busy process may have read nothing yet
    for (let looks = 0; looks < mostPipeLooks; looks++) {
      const isClosed = await Promise.race([this.#closed.then(() => true), pause(look, false, { ref: true })])
      if (isClosed) break
      await yieldLoop() // what waits in the pipe is read before
      if (this.#handling !== undefined) await this.#handling
      else if (performance.now() - this.#lastPiece > silence) break
    }
    await this.#handling
  }

  close(): void {
    this.#stream.destroy()
  }
}
