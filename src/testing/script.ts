import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, stringOption } from '../extension.ts'
import type { Format, ToolCall } from '../index.ts'
import { CheckError } from './_failure.ts'
import {
  messageOfTurn,
  scriptedFormats,
  turnOfMessage,
  type MessageFields,
  type SpokenCall,
  type SpokenTurn,
} from './_messages.ts'
import {
  scriptedAgentsModel,
  scriptedLanguageModel,
  type ScriptedAgentsModel,
  type ScriptedLanguageModel,
} from './_models.ts'
import { isOfProvider, responseOf } from './_streams.ts'
import { valueWords } from './_words.ts'

export type { ScriptedAgentsModel, ScriptedLanguageModel } from './_models.ts'

/** What a model says in one message. */
export interface ScriptTurn {
  readonly text?: string | undefined
  /** The calls that it makes: a name and args, or a whole call. Without an id they are `call_1`, `call_2` and so on. */
  readonly calls?: readonly ScriptCall[] | undefined
}

/**
 * A call of a script: a name and args, or a whole call. The last form is that of a name and args in a variable, of whose order
 * TypeScript knows nothing; the script itself refuses one without a name.
 */
export type ScriptCall = ToolCall | readonly [name: string, args?: unknown] | readonly (string | object)[]

/** A turn: text, text and calls, or a whole message of the provider. */
export type ScriptMessage<Message = never> = string | ScriptTurn | Message

/** A turn, or a function that makes it of the request. It may assert what the model was sent. */
export type ScriptStep<Message = never> =
  ScriptMessage<Message> | ((request: unknown, requests: readonly unknown[]) => ScriptMessage<Message>)

/** A model that says what a test wants. */
export interface Script<Message = unknown> {
  /** Returns the next message. `Reply` is its type in your client library. */
  readonly next: <Reply = Message>(request?: unknown) => Promise<Reply>
  /** Answers a provider's own client library, plainly or as a stream: `new Anthropic({ fetch: model.fetch, apiKey: 'none' })`. */
  readonly fetch: typeof fetch
  /** What was asked, turn by turn. */
  readonly requests: readonly unknown[]
  /** How many turns were not asked for. */
  readonly left: number
  /** For `generateText` and `streamText` of the AI SDK, version 7. */
  readonly languageModel: ScriptedLanguageModel
  /** For an `Agent` of OpenAI Agents. */
  readonly agentsModel: ScriptedAgentsModel
}

/**
 * Makes a model that says these turns, one after the other, in messages of a provider. It needs no network and no key.
 *
 * @param format Whose messages it writes: Anthropic, OpenAI (both), Gemini or the AI SDK.
 * @param turns What it says. A loop that asks for more fails, with words that say so.
 * @throws `E_INVALID_CONFIGURATION` if there is no script for the format, or a turn is none.
 * @example
 * ```ts
 * import { anthropic } from 'toolwright/formats/anthropic'
 * import { script } from 'toolwright/testing'
 *
 * const model = script(anthropic(), [{ calls: [['find_order', { id: 'A-1' }]] }, 'Done.'])
 * const calls = anthropic().calls(await model.next()) // [{ id: 'call_1', name: 'find_order', args: { id: 'A-1' } }]
 * ```
 * @experimental
 */
export function script<Message>(
  format: Format<never, Message, unknown> | Format<unknown, Message, unknown>,
  turns: NoInfer<readonly ScriptStep<Message>[]>,
): Script<Message> {
  return new TurnScript(format, turns)
}

class TurnScript<Message> implements Script<Message> {
  readonly requests: unknown[] = []
  readonly languageModel: ScriptedLanguageModel
  readonly agentsModel: ScriptedAgentsModel
  readonly #format: Format<unknown, Message>
  readonly #turns: readonly ScriptStep<Message>[]
  #calls = 0
  /** The ids of the calls of the turn before: the next request brings their results. */
  #open: readonly string[] = []

  constructor(format: Format<unknown, Message>, turns: readonly ScriptStep<Message>[]) {
    if (!scriptedFormats.includes(format?.name)) {
      throw new InvalidConfigurationError(
        `script takes a format, one of ${scriptedFormats.join(', ')}, and not ${valueWords(format?.name, 60)}.`,
      )
    }
    if (!Array.isArray(turns)) {
      throw new InvalidConfigurationError(
        "script takes the turns of the model: [{ calls: [['find_order', { id: 'A-1' }]] }, 'Done.'].",
      )
    }
    this.#format = format
    this.#turns = [...turns]
    for (const turn of this.#turns) if (typeof turn !== 'function') this.#check(turn)
    const turnFor = async (request: unknown): Promise<SpokenTurn> => this.#spoken(this.#take(request))
    this.languageModel = scriptedLanguageModel(turnFor)
    this.agentsModel = scriptedAgentsModel(turnFor)
  }

  get left(): number {
    return Math.max(0, this.#turns.length - this.requests.length)
  }

  readonly next = async <Reply = Message>(request?: unknown): Promise<Reply> =>
    this.#message(this.#take(request)) as Reply

  readonly fetch: typeof fetch = async (input, init) => {
    init?.signal?.throwIfAborted()
    const url = input instanceof Request ? input.url : String(input)
    try {
      if (!isOfProvider(this.#format.name)) {
        throw new InvalidConfigurationError(
          `No client library reads messages of ${this.#format.name}: use languageModel.`,
        )
      }
      const sent: unknown = await (
        input instanceof Request && init?.body === undefined ? input : new Response(init?.body)
      ).json()
      return responseOf(this.#format.name, this.#message(this.#take(sent)), sent as MessageFields, url)
    } catch (error) {
      const message = error instanceof Error ? error.message : valueWords(error)
      // In one shape for all: each client library reads its own members of it.
      const body = { type: 'invalid_request_error', message, code: 400, status: 'INVALID_ARGUMENT', param: null }
      return Response.json({ type: 'error', error: body }, { status: 400 })
    }
  }

  /** Returns the next turn, as it stands in the script or as its function makes it. */
  #take(request: unknown): ScriptMessage<Message> {
    const turn = this.#turns[this.requests.length]
    if (turn === undefined) {
      const { length } = this.#turns
      const count = length === 1 ? '1 turn' : `${length} turns`
      throw new CheckError(
        `The script has ${count}, and the loop asked for turn ${this.requests.length + 1}. End the loop, or add what the model says then.`,
      )
    }
    this.#requireResults(request)
    this.requests.push(request)
    if (typeof turn !== 'function') return turn
    const answer = (turn as (request: unknown, requests: readonly unknown[]) => ScriptMessage<Message>)(
      request,
      this.requests,
    )
    this.#check(answer)
    return answer
  }

  /** A request without the results of the last calls comes from another loop, or from one that has lost them. */
  #requireResults(request: unknown): void {
    if (this.#open.length === 0 || this.#format.name === 'gemini' || !hasConversation(request)) return
    const text = JSON.stringify(request)
    if (this.#open.some((id) => text.includes(JSON.stringify(id)))) return
    throw new CheckError(
      `Turn ${this.requests.length + 1} was asked for without a result of ${this.#open.join(', ')}. Two loops share this script, or the loop lost the results. Give each loop a script of its own.`,
    )
  }

  #check(turn: unknown): void {
    if (typeof turn === 'string' || this.#format.detect(turn)) return
    checkOptions<ScriptTurn>('A turn of a script', turn as ScriptTurn, {
      text: stringOption,
      calls: {
        expected: "calls, such as [['find_order', { id: 'A-1' }]] or [{ name: 'find_order', args: { id: 'A-1' } }],",
        accepts: isListOfCalls,
      },
    })
  }

  #message(turn: ScriptMessage<Message>): MessageFields {
    if (typeof turn === 'string' || !this.#format.detect(turn))
      return messageOfTurn(this.#format.name, this.#spoken(turn))
    this.#open = turnOfMessage(this.#format, turn).calls.map(({ id }) => id)
    return turn as MessageFields
  }

  #spoken(turn: ScriptMessage<Message>): SpokenTurn {
    const spoken = this.#read(turn)
    this.#open = spoken.calls.map(({ id }) => id)
    return spoken
  }

  #read(turn: ScriptMessage<Message>): SpokenTurn {
    if (typeof turn === 'string') return { text: turn, calls: [] }
    if (this.#format.detect(turn)) return turnOfMessage(this.#format, turn)
    const { text, calls = [] } = turn as ScriptTurn
    return { text, calls: calls.map((call) => this.#call(call)) }
  }

  #call(call: ScriptCall): SpokenCall {
    const { id, name, args }: ToolCall = isNameAndArgs(call) ? { name: call[0] as string, args: call[1] } : call
    return { id: String(id ?? `call_${++this.#calls}`), name, args: args ?? {} }
  }
}

/** Whether it is a name and args. `isListOfCalls` has looked at the name. */
function isNameAndArgs(call: ScriptCall): call is Exclude<ScriptCall, ToolCall> {
  return Array.isArray(call)
}

/** Whether a call has it. Providers have other names for args, such as `input`, and what stands there would be lost. */
function isCallMember(name: string): boolean {
  return ['id', 'name', 'args', 'result', 'program'].includes(name)
}

function isListOfCalls(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((call: unknown) =>
      Array.isArray(call)
        ? typeof call[0] === 'string' && call.length < 3
        : typeof (call as ToolCall | null)?.name === 'string' && Object.keys(call as ToolCall).every(isCallMember),
    )
  )
}

/** Whether a request is of a provider or a framework, and so has the messages so far. */
function hasConversation(request: unknown): boolean {
  if (typeof request !== 'object' || request === null) return false
  return ['messages', 'input', 'prompt'].some((name) => Array.isArray((request as MessageFields)[name]))
}
