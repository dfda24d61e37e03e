import { StringDecoder } from 'node:string_decoder'
import type { ExecOptions, ExecResult, Match, SearchQuery } from './sandbox.ts'
import { refusal } from './_words.ts'

/** Matches that wait for the one who asked. Beyond them the engine waits. */
const mostWaitingMatches = 500

/** Runs ripgrep within the sandbox, given its arguments. */
export type RunRipgrep = (args: readonly string[], options: ExecOptions) => Promise<ExecResult>

/** Searches with ripgrep, and yields its matches as they come. Leaving early ends it. */
export async function* searchWith(run: RunRipgrep, query: SearchQuery): AsyncGenerator<Match, void, undefined> {
  const stop = new AbortController()
  const signal = query.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, query.signal])
  const lines = new LineSplitter()
  const waiting: Match[] = []
  let wake = (): void => {}
  let resumeOutput = (): void => {}
  let ended: ExecResult | undefined
  let failure: unknown
  const onOutput = (stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> => {
    if (stream === 'stderr') return
    for (const line of lines.push(bytes)) {
      const match = ripgrepMatch(line)
      if (match !== undefined) waiting.push(match)
    }
    wake()
    if (waiting.length < mostWaitingMatches) return
    return new Promise((resolve) => {
      resumeOutput = resolve
    })
  }
  const running = run(ripgrepArguments(query), { signal, timeout: 60_000, onOutput }).then(
    (result) => (ended = result),
    (error: unknown) => (failure = error),
  )
  void running.then(() => wake())
  try {
    for (;;) {
      for (const match of waiting.splice(0)) yield match
      resumeOutput()
      if (waiting.length > 0) continue
      if (failure !== undefined) throw failure
      if (ended !== undefined) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    query.signal?.throwIfAborted()
    if (ended.timedOut) throw refusal('The search took more than 60 s.', 'Search in fewer files.')
    // 1: no match; 2 with matches: some file could not be read.
    if (ended.exitCode !== 0 && ended.exitCode !== 1 && !lines.hadAny) {
      throw refusal(`The search failed: ${ended.stderr.text.slice(0, 400).trim()}`)
    }
  } finally {
    stop.abort()
    resumeOutput()
    await running
  }
}

function ripgrepArguments({ pattern, ignoreCase, path, glob, hidden, context }: SearchQuery): string[] {
  return [
    ...fixedArguments,
    ...(hidden ? ['--no-ignore'] : ['--no-ignore-dot', '--glob', '!node_modules']),
    // A glob that began with `!` would leave out what it matches.
    ...(glob === undefined ? [] : ['--glob', glob.replace(/^!/, '\\!')]),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(context > 0 ? ['--context', String(context)] : []),
    '-e',
    pattern.replaceAll('\0', '\\x00'), // an argument has no NUL
    '--',
    path,
  ]
}

const fixedArguments = (
  '--no-config --no-follow --json --sort path --max-filesize 1M --no-messages ' +
  '--hidden --no-require-git --no-ignore-global --no-ignore-parent --glob !.git'
).split(' ')

/** Splits output into lines. */
class LineSplitter {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  hadAny = false

  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.write(Buffer.from(bytes))).split('\n')
    this.#rest = lines.pop() ?? ''
    this.hadAny ||= lines.length > 0
    return lines
  }
}

interface RipgrepMessage {
  readonly type: string
  readonly data: {
    readonly path?: { readonly text?: string }
    readonly lines?: { readonly text?: string; readonly bytes?: string }
    readonly line_number?: number
  }
}

function ripgrepMatch(line: string): Match | undefined {
  const { type, data } = JSON.parse(line) as RipgrepMessage
  if (type !== 'match' && type !== 'context') return undefined
  const { path, lines, line_number: number } = data
  if (path?.text === undefined || number === undefined) return undefined
  const text = lines?.text ?? Buffer.from(lines?.bytes ?? '', 'base64').toString('utf8')
  return {
    path: path.text.replace(/^\.\//, ''),
    line: number,
    text: text.replace(/\r?\n$/, ''),
    isContext: type === 'context',
  }
}
