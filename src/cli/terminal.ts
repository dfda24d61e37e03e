import { createInterface, type Interface } from 'node:readline/promises'
import { styleText } from 'node:util'
import type { ApprovalAnswer, ApprovalRequest, CallStatus, Extension, Observer } from '../index.ts'
import { jsonText, oneLine, type Host } from './host.ts'

const signs: Readonly<Record<CallStatus, readonly [sign: string, color: 'green' | 'red' | 'yellow']>> = {
  ok: ['✓', 'green'],
  error: ['✗', 'red'],
  denied: ['✗', 'red'],
  timed_out: ['✗', 'red'],
  cancelled: ['✗', 'red'],
  pending: ['…', 'yellow'],
}
// The longest possible timer: a person at the terminal has no time limit.
const longestTimeout = 2 ** 31 - 1

/** Returns an observer that writes one line for each progress event, and one line for each settled call. */
export function view({ stderr }: Host): Observer {
  return (event) => {
    const name = oneLine(event.toolName, 64)
    if (event.event === 'tool:progress') {
      stderr.write(`${styleText('dim', `  ${name}: ${shown(event.data)}`, { stream: stderr })}\n`)
    }
    if (event.event !== 'call:settled') return
    const [sign, color] = signs[event.status]
    const { error } = event
    const state = styleText(color, `${sign} ${name} ${event.status}`, { stream: stderr })
    const time = styleText('dim', `${Math.round(event.durationMs)} ms`, { stream: stderr })
    stderr.write(`${state} ${time}${error === undefined ? '' : ` ${oneLine(error.message, 300)}`}\n`)
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
    const { toolName, prompt, input } = request
    const why = request.why === undefined ? '' : ` (${oneLine(request.why, 300)})`
    const name = styleText('bold', oneLine(toolName, 64), { stream: stderr })
    const words = `${name}: ${oneLine(prompt, 300)}${why} ${shown(input)} [y/N] `
    const ended = new Promise<string>((resolve) => lines?.once('close', () => resolve('')))
    const reply = await Promise.race([lines.question(words, { signal }), ended])
    return { decision: /^\s*y(?:es)?\s*$/i.test(reply) ? 'allow' : 'deny' }
  }

  return {
    approver: {
      timeout: longestTimeout,
      ask(request, signal) {
        const asked = before.then(() => ask(request, signal))
        before = asked.catch(() => {})
        return asked
      },
    },
    close: () => lines?.close(),
  }
}

/** Returns any value as a short text. */
function shown(value: unknown): string {
  try {
    return oneLine(jsonText(value), 300)
  } catch {
    return '[not JSON]'
  }
}
