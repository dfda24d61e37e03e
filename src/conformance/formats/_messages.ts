/** Messages that no provider sends. */
export const hostileMessages: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  Number.NaN,
  1n,
  '',
  'tool_use',
  Symbol('x'),
  () => null,
  new Date(0),
  new Map(),
  [],
  [null],
  [undefined, 1, 'x', [[]]],
  {},
  Object.create(null),
  ...['assistant', 'model', 'user', 7, null].flatMap((role) => [
    { role },
    ...[null, 1, {}, [null], [1, 'x', [], {}], [{ type: null }], [{ type: {} }]].flatMap((content) => [
      { role, content },
      { role, parts: content },
      { role, content: null, tool_calls: content },
      { role, content: null, function_call: content },
    ]),
  ]),
  ...[null, {}, [], [null], [{}], [{ message: null }], [{ content: null }], [{ content: { parts: {} } }]].flatMap(
    (inner) => [
      { choices: inner },
      { candidates: inner },
      { output: inner, object: 'response' },
      { toolCalls: inner, finishReason: 'tool-calls' },
      { jsonrpc: '2.0', id: inner, method: 'tools/call', params: inner },
    ],
  ),
  JSON.parse('{"__proto__":{"role":"assistant","content":[{"type":"tool_use","name":"x"}]}}'),
  JSON.parse(
    '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"__proto__","input":{"__proto__":1}}]}',
  ),
  {
    get role(): string {
      throw new Error('not for you')
    },
    get output(): unknown {
      throw new Error('no output was generated')
    },
  },
  deep((inner) => [inner]),
  deep((inner) => ({ content: inner, parts: inner, output: inner, message: inner })),
]

/** Yields the message with one thing in it replaced, for every thing in it. */
export function* damages(message: unknown): Generator<unknown> {
  for (const value of [null, 0, '', 'x', [], {}, [null], true]) yield value
  if (typeof message !== 'object' || message === null) return
  for (const key of Object.keys(message)) {
    for (const inner of damages((message as Record<string, unknown>)[key])) {
      const copied: unknown = Array.isArray(message) ? [...message] : { ...message }
      Reflect.set(copied as object, key, inner)
      yield copied
    }
  }
}

function deep(wrap: (inner: unknown) => unknown): unknown {
  let message: unknown = null
  for (let depth = 0; depth < 100_000; depth++) message = wrap(message)
  return message
}
