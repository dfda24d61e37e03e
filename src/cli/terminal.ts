import { createInterface, type Interface } from 'node:readline/promises'
import { styleText } from 'node:util'
import type { CallStatus, Extension } from '../index.ts'
import { timerLength, type ApprovalAnswer, type ApprovalRequest, type Observer } from '../extension.ts'
import { terminalJson, terminalLine, withoutGaps, type Host } from './host.ts'

const signs: Readonly<Record<CallStatus, readonly [sign: string, color: 'green' | 'red' | 'yellow']>> = {
  ok: ['✓', 'green'],
  error: ['✗', 'red'],
  denied: ['✗', 'red'],
  timed_out: ['✗', 'red'],
  cancelled: ['✗', 'red'],
  waiting: ['…', 'yellow'],
}
/** Characters of a question on one line; a longer one has its args over lines. */
const longestQuestionLine = 300
// What a person can scroll back to.
const longestTerminalQuestion = 65_536
const mostQuestionLines = 1_000

/** Returns an observer that writes one line for each progress event, and one line for each call that settles or begins to wait. */
export function view({ stderr }: Host): Observer {
  return (event) => {
    const name = terminalLine(event.toolName, 64)
    if (event.event === 'tool:progress') {
      stderr.write(`${styleText('dim', `  ${name}: ${progressText(event.data)}`, { stream: stderr })}\n`)
    }
    if (event.event === 'call:waiting' && event.inProcess === undefined) {
      const [sign, color] = signs.waiting
      stderr.write(`${styleText(color, `${sign} ${name} waiting`, { stream: stderr })}\n`)
    }
    if (event.event !== 'call:settled') return
    const [sign, color] = signs[event.status]
    const { error } = event
    const state = styleText(color, `${sign} ${name} ${event.status}`, { stream: stderr })
    const time = styleText('dim', `${Math.round(event.durationMs)} ms`, { stream: stderr })
    stderr.write(`${state} ${time}${error === undefined ? '' : ` ${terminalLine(error.message, 300)}`}\n`)
  }
}

/** Returns an approver that asks at the terminal, one question after the other. Any answer but yes denies the call. */
export function terminalApprover({ stdin, stderr }: Host): Extension {
  let lines: Interface | undefined
  let before: Promise<unknown> = Promise.resolve()
  let isClosed = false

  async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    if (lines === undefined) {
      // Not `terminal: true`: the terminal's own line editing is enough, and Ctrl-C stays a signal.
      lines = createInterface({ input: stdin, output: stderr, terminal: false })
      lines.once('close', () => (isClosed = true))
    }
    if (isClosed) return { decision: 'deny', note: 'the terminal is closed' }
    const name = terminalLine(request.toolName, 64)
    const question = terminalQuestion(name, request)
    if (question === undefined) {
      const reason = `The call cannot be shown whole at the terminal, which takes args of JSON, and at most ${longestTerminalQuestion.toLocaleString('en')} characters on ${mostQuestionLines.toLocaleString('en')} lines.`
      stderr.write(`${name}: ${reason} It is denied.\n`)
      return { decision: 'deny', note: reason }
    }
    const words = `${styleText('bold', name, { stream: stderr })}${question} [y/N] `
    const ended = new Promise<string>((resolve) => lines?.once('close', () => resolve('')))
    const reply = await Promise.race([lines.question(words, { signal }), ended])
    return { decision: /^\s*y(?:es)?\s*$/i.test(reply) ? 'allow' : 'deny' }
  }

  return {
    approver: {
      timeout: timerLength(Infinity), // a person at the terminal has no time limit
      ask(request, signal) {
        const decision = before.then(() => ask(request, signal))
        before = decision.catch(() => {})
        return decision
      },
    },
    close: () => lines?.close(),
  }
}

/**
 * Returns what a person is asked, after the name: why, and all of the args. Returns `undefined` if they cannot be shown whole:
 * a person must not allow what is not on the screen.
 */
function terminalQuestion(name: string, { prompt, why, input }: ApprovalRequest): string | undefined {
  const { truncated, head: beginning } = Object(input) as Readonly<Record<string, unknown>>
  if (truncated === true && typeof beginning === 'string') return undefined // an event has only the beginning of large args
  const head = withoutGaps(
    `: ${terminalLine(prompt, 300)}${why === undefined ? '' : ` (${terminalLine(why, Infinity)})`}`,
  )
  try {
    const short = `${head} ${withoutGaps(terminalJson(input))}`
    if (short.length <= longestQuestionLine) return short
    const long = `${head}\n${withoutGaps(terminalJson(input, 2))}\n${name}?`
    return long.length <= longestTerminalQuestion && long.split('\n').length <= mostQuestionLines ? long : undefined
  } catch {
    return undefined
  }
}

/** Returns any value as a short text. */
function progressText(value: unknown): string {
  try {
    return terminalLine(terminalJson(value), 300)
  } catch {
    return '[not JSON]'
  }
}
