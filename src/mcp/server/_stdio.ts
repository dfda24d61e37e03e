import type { Readable, Writable } from 'node:stream'
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/** How long calls that were given up may take to be answered, in milliseconds. */
const lastAnswers = 1_000

interface ClientStreamsOptions {
  /** How many bytes a message may have. */
  readonly messageLimit: number
  /** How long requests may go on after the end of stdin, in milliseconds. */
  readonly endTimeout: number
  /** Gives up the calls that are not answered in that time. */
  readonly giveUp: () => void
}

/** Stdin and stdout. A client that has closed its end of stdin still reads the answers to what it asked before. */
export class ClientStreams extends StdioServerTransport {
  readonly #stdin: Readable
  readonly #options: ClientStreamsOptions
  readonly #unanswered = new Set<RequestId>()
  /** Ends the wait for the last answers. Missing as long as stdin has not ended. */
  #finish: (() => void) | undefined

  constructor(stdin: Readable = process.stdin, stdout: Writable = process.stdout, options: ClientStreamsOptions) {
    super(stdin, stdout, { maxBufferSize: options.messageLimit })
    this.#stdin = stdin
    this.#options = options
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    this.onmessage = (message) => {
      if (isJSONRPCRequest(message)) {
        // This one is answered by the end of the connection.
        if (message.method !== 'subscriptions/listen') this.#unanswered.add(message.id)
      } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
        this.#settle(message.params?.['requestId'])
      }
      deliver?.(message)
    }
    await super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id)
  }

  override close(): Promise<void> {
    this.#finish?.()
    return super.close()
  }

  /** The SDK's listener for the end of stdin, which would close at once. */
  override _onstdinclose = (): void => {
    if (this.#finish !== undefined) return
    if (this.#unanswered.size === 0 || !this.#stdin.readableEnded) return void this.close()
    const { endTimeout, giveUp } = this.#options
    const patience = setTimeout(giveUp, endTimeout)
    const end = setTimeout(() => void this.close(), endTimeout + lastAnswers)
    this.#finish = () => {
      clearTimeout(patience)
      clearTimeout(end)
    }
  }

  #settle(id: unknown): void {
    this.#unanswered.delete(id as RequestId)
    if (this.#finish !== undefined && this.#unanswered.size === 0) void this.close()
  }
}
