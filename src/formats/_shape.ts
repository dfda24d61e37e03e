import { InvalidConfigurationError } from '../errors.ts'
import { isObject, list, read, text, typeOf } from './_read.ts'

/** A kind of value that is taken for a message. */
interface MessageKind {
  readonly what: string
  /** The format that reads it. */
  readonly format?: string
  /** What to pass instead, if no format reads it as it is. */
  readonly instead?: string
  /** Whether a value, an item of an array, or a part of a message is of this kind. */
  readonly fits: (item: unknown) => boolean
}

const finished = 'Wait for the end of the stream, and pass the finished message'

// In the order in which they are tried. A kind without calls is listed only if no other format has it too.
const messageKinds: readonly MessageKind[] = [
  { what: 'a promise', instead: 'Await it', fits: (item) => typeof read(item, 'then') === 'function' },
  {
    what: 'a response of `fetch`',
    instead: 'Pass `await response.json()`',
    fits: (item) => typeof read(item, 'arrayBuffer') === 'function',
  },
  {
    what: 'a result of `streamText`',
    instead: 'Pass `await result.toolCalls` to the format ai-sdk',
    fits: (item) => hasKey(item, 'fullStream'),
  },
  {
    what: 'a stream',
    instead: finished,
    fits: (item) => hasKey(item, Symbol.asyncIterator) || hasKey(item, 'getReader'),
  },
  {
    what: 'a chunk of a chat completion',
    instead: `${finished} to the format openai`,
    fits: (item) => read(item, 'object') === 'chat.completion.chunk' || isObject(read(item, 'choices', 0, 'delta')),
  },
  {
    what: 'an event of a Responses stream',
    instead:
      'Wait for the end of the stream, and pass `event.response` of the last event to the format openai-responses',
    fits: (item) => /^response\.\w/.test(typeOf(item)),
  },
  {
    what: 'an event of an Anthropic stream',
    instead: `${finished} to the format anthropic`,
    fits: (item) => /^(?:message|content_block)_(?:start|delta|stop)$/.test(typeOf(item)),
  },
  {
    what: 'a part of an AI SDK stream',
    instead: 'Pass `await result.toolCalls` to the format ai-sdk',
    fits: (item) => /^(?:text|reasoning|tool-input)-(?:start|delta|end)$|^(?:start|finish)-step$/.test(typeOf(item)),
  },
  {
    what: 'a UI message of the AI SDK',
    instead: 'Convert it with `convertToModelMessages`, and use the format ai-sdk',
    fits: isOfUi,
  },
  {
    what: 'an error of the provider',
    instead: 'Handle it before you read calls',
    fits: (item) =>
      isObject(read(item, 'error')) && read(item, 'object') !== 'response' && read(item, 'jsonrpc') === undefined,
  },
  {
    what: 'a choice of a chat completion',
    instead: 'Pass its `message` to the format openai',
    fits: (item) => isObject(read(item, 'message')) && hasKey(item, 'finish_reason'),
  },
  {
    what: 'a candidate of Gemini',
    instead: 'Pass its `content` to the format gemini',
    fits: (item) => isObject(read(item, 'content')) && Array.isArray(read(item, 'content', 'parts')),
  },
  {
    what: 'a JSON-RPC message',
    format: 'mcp',
    fits: (item) => read(item, 'jsonrpc') === '2.0' || read(item, 'method') === 'tools/call',
  },
  { what: 'a chat completion', format: 'openai', fits: (item) => Array.isArray(read(item, 'choices')) },
  {
    what: 'a message of chat completions',
    format: 'openai',
    fits: (item) =>
      list(read(item, 'tool_calls')).length > 0 ||
      (text(read(item, 'role')) !== '' && isObject(read(item, 'function_call'))) ||
      (isObject(read(item, 'function')) && typeOf(item) === 'function'),
  },
  {
    what: 'a message of Gemini',
    format: 'gemini',
    fits: (item) =>
      Array.isArray(read(item, 'candidates')) ||
      (Array.isArray(read(item, 'parts')) && !isOfUi(item)) ||
      isObject(read(item, 'functionCall')) ||
      (isObject(read(item, 'function_call')) && read(item, 'role') === undefined),
  },
  {
    what: 'a response of the Responses API',
    format: 'openai-responses',
    fits: (item) =>
      read(item, 'object') === 'response' ||
      /^(?:(?:function|custom_tool|computer|shell|mcp)_call(?:_output)?|output_text)$/.test(typeOf(item)),
  },
  {
    what: 'a message of Anthropic',
    format: 'anthropic',
    fits: (item) =>
      /^(?:\w+_)?tool_(?:use|result)$|^(?:redacted_)?thinking$/.test(typeOf(item)) ||
      (typeOf(item) === 'message' && hasKey(item, 'stop_reason')),
  },
  {
    what: 'a message of the AI SDK',
    format: 'ai-sdk',
    fits: (item) =>
      /^tool-(?:call|result|error)$/.test(typeOf(item)) ||
      (hasKey(item, 'finishReason') && Array.isArray(read(item, 'toolCalls'))),
  },
  {
    what: 'a call that a format has read',
    instead: 'Pass it to the executor',
    fits: (item) => typeof read(item, 'name') === 'string' && hasKey(item, 'args'),
  },
]

/**
 * Checks a message in which a format found no call: it may be of another format.
 *
 * @param isOwn Whether the message has the outer form that the format reads.
 * @param takes What the format reads, for the error.
 * @throws `E_INVALID_CONFIGURATION` if the format does not read such a message.
 */
export function requireOwn(message: unknown, format: string, isOwn: boolean, takes: string): void {
  const items = itemsIn(message)
  const found = messageKinds.filter(({ fits }) => items.some((item) => fits(item)))
  const [kind] = found
  if (isOwn && (kind === undefined || found.some((each) => each.format === format))) return
  const what = kind === undefined ? `it is ${messageForm(message)}` : `it looks like ${kind.what}`
  const next =
    kind?.instead ??
    (kind?.format === undefined || kind.format === format ? `Pass ${takes}` : `Use the format ${kind.format}`)
  throw new InvalidConfigurationError(`The format ${format} reads no calls in this: ${what}. ${next}.`)
}

/** Returns whether every item of an array, or a value that is no array, passes a test. */
export function isEach(message: unknown, test: (item: unknown) => boolean): boolean {
  return Array.isArray(message) ? message.every(test) : test(message)
}

/** Returns whether an item is a message with a role, whose content is text or parts. */
export function isRoleMessage(item: unknown): boolean {
  const content = read(item, 'content')
  return text(read(item, 'role')) !== '' && (typeof content === 'string' || Array.isArray(content))
}

/** Returns a message, the items of an array, and the parts of each. */
function itemsIn(message: unknown): unknown[] {
  const items = Array.isArray(message) ? message : [message]
  return items.flatMap((item) => [item, ...list(read(item, 'content')), ...list(read(item, 'parts'))])
}

/** Returns words for the form of a value. */
function messageForm(value: unknown, isInArray = false): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value))
    return isInArray ? 'an array' : `an array whose first item is ${messageForm(value[0], true)}`
  if (typeof value === 'string') return 'text'
  if (typeof value !== 'object') return `a ${typeof value}`
  let names: string[] = []
  try {
    names = Object.keys(value)
  } catch {
    // a proxy may refuse to be listed
  }
  const nameList = names.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 40)))
  return names.length === 0
    ? 'an object without fields'
    : `an object with ${nameList.join(', ')}${names.length > 5 ? ', …' : ''}`
}

/** Returns whether a message has parts with a type. Those of Gemini have none. */
function isOfUi(item: unknown): boolean {
  return list(read(item, 'parts')).some((part) => typeOf(part) !== '')
}

function hasKey(value: unknown, key: string | symbol): boolean {
  try {
    return typeof value === 'object' && value !== null && Reflect.has(value, key)
  } catch {
    return false
  }
}
