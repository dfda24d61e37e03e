import type { ProgressToken, ServerContext } from '@modelcontextprotocol/server'
import type { ToolEventOf } from '../../index.ts'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const longest = 1_000

type Progress = ToolEventOf<'tool:progress'>

/**
 * Sends what a handler says on the way, as far as the client asked for it: `context.emit('log', { level, data, logger })` as
 * log messages, everything else as progress. Numbers in `progress`, `total` and a `message` go out as they are; they only
 * ever rise, over all the requests that `counter` is of. Where the client reads too slowly, it gets the latest.
 */
export function progressTo(
  { notify, log }: ServerContext['mcpReq'],
  token: ProgressToken | undefined,
  counter: { last?: number },
): { readonly tell: (event: Progress) => void; end(): Promise<void> } {
  let latest: Progress | undefined
  let sending: Promise<void> | undefined

  function next(given: unknown): number {
    const { last = -Infinity } = counter
    const isUsable = typeof given === 'number' && Number.isFinite(given) && given > last
    counter.last = isUsable ? given : Math.max(last, 0) + 1
    return counter.last
  }

  async function send(progressToken: ProgressToken): Promise<void> {
    for (let event = latest; event !== undefined; event = latest) {
      latest = undefined
      const { data } = event
      const { progress, total, message } = fieldsOf(data)
      const words = wordsOf(message ?? data)
      const params = {
        progressToken,
        progress: next(progress),
        ...(typeof total === 'number' && Number.isFinite(total) ? { total } : undefined),
        ...(words === undefined ? undefined : { message: words }),
      }
      await notify({ method: 'notifications/progress', params }).catch(() => {}) // the client is gone
    }
    sending = undefined
  }

  return {
    tell(event) {
      if (event.type === 'log') return tellLog(event.data, log)
      if (token === undefined) return
      latest = event
      sending ??= send(token)
    },
    async end() {
      await sending
    },
  }
}

function tellLog(said: unknown, log: ServerContext['mcpReq']['log']): void {
  const { level: given, data, logger } = fieldsOf(said)
  const level = levels.find((one) => one === given) ?? 'info'
  log(level, data ?? said, typeof logger === 'string' ? logger : undefined).catch(() => {})
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
}

function wordsOf(said: unknown): string | undefined {
  try {
    const words = typeof said === 'string' ? said : JSON.stringify(said)
    return words === undefined || words.length <= longest ? words : `${words.slice(0, longest - 1)}…`
  } catch {
    return undefined
  }
}
