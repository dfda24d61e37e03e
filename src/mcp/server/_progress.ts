import type { ProgressToken, ServerContext } from '@modelcontextprotocol/server'
import type { ToolEventOf } from '../../index.ts'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const longestProgress = 1_000
/** The size of a progress notification without its message, in characters. */
const frame = 100
/** How many characters of JSON are sent per request. What the client does not read is buffered, so there is a limit. */
const mostSent = 8_388_608

type Progress = ToolEventOf<'tool:progress'>

/**
 * Sends a handler's progress to the client, if the client asked for it: `context.emit('log', { level, data, logger })` as log
 * messages, all other events as progress. The numbers `progress` and `total` and a `message` are sent as they are; `progress`
 * only rises, across all requests that share `counter`. Data without a number in `progress` becomes the message. What cannot
 * be serialized is dropped, as is what comes after 8 MiB.
 */
export function progressTo(
  { notify, log }: ServerContext['mcpReq'],
  token: ProgressToken | undefined,
  counter: { last?: number },
): { readonly tell: (event: Progress) => void; end(): Promise<void> } {
  let latest: Progress | undefined
  let sending: Promise<void> | undefined
  let left = mostSent

  /** Takes a size off what may still be sent. Returns whether it fitted. */
  function has(size: number): boolean {
    if (size > left) return false
    left -= size
    return true
  }

  function next(progress: unknown): number {
    const { last = -Infinity } = counter
    const isUsable = typeof progress === 'number' && Number.isFinite(progress) && progress > last
    counter.last = isUsable ? progress : Math.max(last, 0) + 1
    return counter.last
  }

  async function send(progressToken: ProgressToken): Promise<void> {
    for (let event = latest; event !== undefined; event = latest) {
      latest = undefined
      try {
        const { progress, total, message } = fieldsOf(event.data)
        // Data that is sent as numbers is not repeated as a message.
        const hasWords = typeof progress !== 'number' || (message ?? undefined) !== undefined
        const words = hasWords ? progressWords(message ?? event.data) : undefined
        if (!has(frame + (words?.length ?? 0))) continue
        const params = {
          progressToken,
          progress: next(progress),
          ...(typeof total === 'number' && Number.isFinite(total) ? { total } : undefined),
          ...(words === undefined ? undefined : { message: words }),
        }
        await notify({ method: 'notifications/progress', params })
      } catch {
        // the client is gone, or reading the handler's data threw: the call continues
      }
    }
    sending = undefined
  }

  function tellLog(output: unknown): void {
    const { level: levelName, data = output, logger } = fieldsOf(output)
    const text: string | undefined = JSON.stringify(data)
    if (text === undefined || !has(text.length)) return
    const level = levels.find((one) => one === levelName) ?? 'info'
    log(level, data, typeof logger === 'string' ? logger.slice(0, longestProgress) : undefined).catch(() => {})
  }

  return {
    tell(event) {
      if (event.type === 'log') {
        try {
          tellLog(event.data)
        } catch {
          // reading the handler's data threw: the call continues
        }
      } else if (token !== undefined) {
        latest = event
        sending ??= send(token)
      }
    },
    async end() {
      await sending
    },
  }
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
}

function progressWords(output: unknown): string | undefined {
  try {
    const words = typeof output === 'string' ? output : JSON.stringify(output)
    return words === undefined || words.length <= longestProgress ? words : `${words.slice(0, longestProgress - 1)}…`
  } catch {
    return undefined
  }
}
