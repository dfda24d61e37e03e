// A message as its provider streams it, in events of a server.
import type { MessageFields } from './_messages.ts'

const longestDelta = 4_096

/** Cuts a text as a model writes it, in pieces. An empty text is one piece. */
export function textPieces(text: string): string[] {
  const count = Math.max(1, Math.ceil(text.length / longestDelta))
  return Array.from({ length: count }, (_, index) => text.slice(index * longestDelta, (index + 1) * longestDelta))
}

type StreamWriter = (message: MessageFields, request: MessageFields) => string[]

function eventText(data: MessageFields | string, name?: string): string {
  const line = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${line}\n\n`
}

function memberList(value: unknown): MessageFields[] {
  return Array.isArray(value) ? (value as MessageFields[]) : []
}

function typedEvent(body: MessageFields & { readonly type: string }): string {
  return eventText(body, body.type)
}

function anthropicEvents(message: MessageFields): string[] {
  const blocks = memberList(message['content']).flatMap((block, index) => {
    const isText = block['type'] === 'text'
    const open = isText ? { ...block, text: '' } : 'input' in block ? { ...block, input: {} } : block
    const pieces = isText
      ? textPieces(String(block['text'])).map((text) => ({ type: 'text_delta', text }))
      : 'input' in block
        ? textPieces(JSON.stringify(block['input'])).map((text) => ({ type: 'input_json_delta', partial_json: text }))
        : []
    return [
      typedEvent({ type: 'content_block_start', index, content_block: open }),
      ...pieces.map((delta) => typedEvent({ type: 'content_block_delta', index, delta })),
      typedEvent({ type: 'content_block_stop', index }),
    ]
  })
  const delta = { stop_reason: message['stop_reason'], stop_sequence: message['stop_sequence'] ?? null }
  return [
    typedEvent({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
    ...blocks,
    typedEvent({ type: 'message_delta', delta, usage: message['usage'] ?? { output_tokens: 1 } }),
    typedEvent({ type: 'message_stop' }),
  ]
}

function openaiEvents(message: MessageFields, request: MessageFields): string[] {
  const { choices, usage, ...envelope } = message
  const chunk = (rest: MessageFields): string => eventText({ ...envelope, object: 'chat.completion.chunk', ...rest })
  const events = memberList(choices).flatMap(({ index, finish_reason: reason, message: whole }) => {
    const { content, tool_calls: calls, ...rest } = whole as MessageFields
    const deltas: MessageFields[] = [{ ...rest, content: null }]
    if (typeof content === 'string') deltas.push(...textPieces(content).map((text) => ({ content: text })))
    for (const [place, { function: made, ...call }] of memberList(calls).entries()) {
      const { name, arguments: args } = made as MessageFields
      deltas.push({ tool_calls: [{ index: place, ...call, function: { name, arguments: '' } }] })
      for (const text of textPieces(String(args)))
        deltas.push({ tool_calls: [{ index: place, function: { arguments: text } }] })
    }
    const choice = { index, logprobs: null }
    return [
      ...deltas.map((delta) => chunk({ choices: [{ ...choice, delta, finish_reason: null }] })),
      chunk({ choices: [{ ...choice, delta: {}, finish_reason: reason }] }),
    ]
  })
  const { include_usage: isCounted } = (request['stream_options'] ?? {}) as MessageFields
  return [...events, ...(isCounted === true ? [chunk({ choices: [], usage })] : []), eventText('[DONE]')]
}

function responsesEvents(response: MessageFields): string[] {
  let sequence = 0
  const event = (type: string, body: MessageFields): string => {
    return typedEvent({ type, sequence_number: sequence++, ...body })
  }
  const items = (): string[] =>
    memberList(response['output']).flatMap((item, index) =>
      itemEvents(item, { output_index: index, item_id: item['id'] }),
    )
  const itemEvents = (item: MessageFields, place: MessageFields): string[] => {
    const isMessage = item['type'] === 'message'
    const isCall = item['type'] === 'function_call'
    const open = { ...item, status: 'in_progress', ...(isMessage && { content: [] }), ...(isCall && { arguments: '' }) }
    const added = event('response.output_item.added', { output_index: place['output_index'], item: open })
    const inner = isMessage ? partEvents(item, place) : isCall ? argsEvents(item, place) : []
    return [added, ...inner, event('response.output_item.done', { output_index: place['output_index'], item })]
  }
  const partEvents = (item: MessageFields, place: MessageFields): string[] =>
    memberList(item['content']).flatMap((part, contentIndex) => {
      const at = { ...place, content_index: contentIndex }
      const text = typeof part['text'] === 'string' ? part['text'] : ''
      return [
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
        ...textPieces(text).map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
        event('response.output_text.done', { ...at, text, logprobs: [] }),
        event('response.content_part.done', { ...at, part }),
      ]
    })
  const argsEvents = ({ name, arguments: args }: MessageFields, place: MessageFields): string[] => [
    ...textPieces(String(args)).map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
    event('response.function_call_arguments.done', { ...place, name, arguments: args }),
  ]
  const created = event('response.created', { response: { ...response, status: 'in_progress', output: [] } })
  return [created, ...items(), event('response.completed', { response })]
}

function geminiEvents(message: MessageFields): string[] {
  const { candidates, ...rest } = message
  const [candidate = {}] = memberList(candidates)
  const { content, ...end } = candidate
  const { role, parts } = (content ?? {}) as MessageFields
  const single = memberList(parts).flatMap((part) => {
    return typeof part['text'] === 'string' ? textPieces(part['text']).map((text) => ({ ...part, text })) : [part]
  })
  const last = { ...rest, candidates: [{ ...end, content: { role, parts: single.slice(-1) } }] }
  const before = single.slice(0, -1).map((part) => ({ candidates: [{ index: 0, content: { role, parts: [part] } }] }))
  return [...before, last].map((body) => eventText(body))
}

const streamWriters: Readonly<Record<string, StreamWriter>> = {
  anthropic: anthropicEvents,
  openai: openaiEvents,
  'openai-responses': responsesEvents,
  gemini: geminiEvents,
}

/** Whether a provider's own client library reads messages of a format. */
export function isOfProvider(format: string): boolean {
  return Object.hasOwn(streamWriters, format)
}

/** Returns the answer of a server: a message, or its stream if the request asks for one. */
export function responseOf(format: string, message: MessageFields, request: MessageFields, url: string): Response {
  const isStreamed = request['stream'] === true || url.includes(':streamGenerateContent')
  const events = isStreamed ? streamWriters[format]?.(message, request) : undefined
  if (events === undefined) return Response.json(message)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of events) controller.enqueue(encoder.encode(event))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
