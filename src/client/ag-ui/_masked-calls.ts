import type { ToolDefinition } from '../../index.ts'
import { haveNoSecrets, maskedArgs, toolCalled } from '../_masked-args.ts'
import type { AgUiEvent } from './_types.ts'

/** A call whose args are held back until they are whole. */
interface HeldCall {
  readonly name: unknown
  text: string
  isReleased: boolean
}

/**
 * Masks secrets in the events of calls, for the page. The args of a tool with secrets are held back until they are whole, since
 * no piece of a text says where its secrets are.
 */
export class MaskedCalls {
  readonly #tools: () => readonly ToolDefinition[]
  /** The calls that were begun. Those that are `undefined` have no secrets. */
  readonly #calls = new Map<string, HeldCall | undefined>()
  #last = ''
  /** The call whose chunks come now. The next event of another kind or call ends it. */
  #open: string | undefined

  /** @param tools Lists the tools that calls may name. */
  constructor(tools: () => readonly ToolDefinition[]) {
    this.#tools = tools
  }

  /** Returns what the page gets in place of an event. */
  masked(one: AgUiEvent): AgUiEvent[] {
    const { type, toolCallId, toolCallName } = one
    const id = typeof toolCallId === 'string' ? toolCallId : this.#last // later chunks need not name it
    const isChunk = type === 'TOOL_CALL_CHUNK'
    const isEnd = type === 'TOOL_CALL_END'
    const before = this.#open !== undefined && !(isChunk && this.#open === id) ? this.#release(this.#open, true) : []
    this.#last = id
    this.#open = isChunk ? id : undefined
    if (isEnd) return [...before, ...this.#release(id, false), one]
    if (!isChunk && type !== 'TOOL_CALL_START' && type !== 'TOOL_CALL_ARGS') return [...before, one]
    if (!this.#calls.has(id)) this.#calls.set(id, this.#begun(toolCallName))
    const held = this.#calls.get(id)
    if (held === undefined) return [...before, one]
    const { delta, rawEvent: _unmasked, ...rest } = one
    if (typeof delta === 'string') held.text += delta
    const isFirst = type === 'TOOL_CALL_START' || (isChunk && typeof toolCallName === 'string')
    return isFirst ? [...before, rest] : before
  }

  /** Returns what is left when there are no more events. */
  rest(): AgUiEvent[] {
    return [...this.#calls.keys()].flatMap((id) => this.#release(id, id === this.#open))
  }

  #begun(name: unknown): HeldCall | undefined {
    const tools = this.#tools()
    const tool = toolCalled(tools, name)
    // The args of an unknown tool, and of a bridge, may be meant for any.
    const isPublic = haveNoSecrets(tool === undefined || tool.type === 'bridge' ? tools : [tool])
    return isPublic ? undefined : { name, text: '', isReleased: false }
  }

  /** Returns the args of a call, once. */
  #release(toolCallId: string, isChunk: boolean): AgUiEvent[] {
    const held = this.#calls.get(toolCallId)
    if (held === undefined || held.isReleased) return []
    held.isReleased = true
    const { name, text } = held
    held.text = ''
    if (text === '') return []
    try {
      const args = maskedArgs(this.#tools(), name, JSON.parse(text))
      if (args === undefined) return []
      const delta = JSON.stringify(args.value)
      return [{ type: isChunk ? 'TOOL_CALL_CHUNK' : 'TOOL_CALL_ARGS', timestamp: Date.now(), toolCallId, delta }]
    } catch {
      return [] // of a text that cannot be read, it is not known where the secrets are
    }
  }
}
