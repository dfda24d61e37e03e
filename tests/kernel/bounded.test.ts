import { createExecutor, type ToolEvent } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { heard, hostile, outcome, revoked, text, work } from './_calls.ts'
import { bounded } from './_inside.ts'

/** An object in which the same one stands so often that its JSON would fill the memory of the world. */
function exploding(): unknown {
  let value: unknown = ['x']
  for (let depth = 0; depth < 60; depth++) value = [value, value]
  return value
}

function cyclic(): unknown {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}

function deep(): unknown {
  let value: unknown = 1
  for (let depth = 0; depth < 1_000_000; depth++) value = [value]
  return value
}

describe('a value that has to fit', () => {
  test.each([[null], [undefined], [1], [true], ['text'], [[1, { a: 'b' }]], [{ a: undefined }], [new Date(0)]])(
    'is itself if it does: %j',
    (value) => {
      expect(bounded(value, 100)).toBe(value)
    },
  )

  test('is measured in bytes of JSON', () => {
    for (const value of [{ a: [1, 'zwei', null] }, ['é', '😀', { '': true }], [[], {}, [[]]]]) {
      const { length } = Buffer.from(JSON.stringify(value))
      expect(bounded(value, length + 2)).toBe(value)
      expect(bounded(value, length - 2)).toMatchObject({ truncated: true })
    }
    expect(bounded('é'.repeat(50), 100)).toBe('é'.repeat(50))
    expect(bounded('é'.repeat(51), 100)).toEqual({ truncated: true, byteLength: 102, head: 'é'.repeat(51) })
  })

  test.each<[string, () => unknown, RegExp]>([
    ['a long text', () => 'x'.repeat(50_000_000), /^x{1023}…$/],
    ['a long member', () => ({ a: 'x'.repeat(50_000_000) }), /^\{"a":"x+…$/],
    ['a long key', () => ({ ['k'.repeat(50_000_000)]: 1 }), /^\{"k+…$/],
    ['many elements', () => Array.from({ length: 1_000_000 }, () => 0), /^\[0,0,/],
    ['an array with almost only holes', () => Object.assign([], { length: 4_000_000_000 }), /^\[undefined,/],
    ['bytes', () => new Uint8Array(1_000_000), /^\[bytes\]$/],
    ['shared references', exploding, /^\[+"x"/],
    ['a cycle', cyclic, /^\{"self":\{"self":/],
    ['deep nesting', deep, /^\[+/],
    ['what cannot be read', hostile, /^.?$/],
    ['what was revoked', revoked, /^$/],
  ])('is its beginning and its size if it does not: %s', (_, make, head) => {
    const stub = bounded(make(), 65_536)
    expect(stub).toMatchObject({ truncated: true, byteLength: expect.any(Number), head: expect.stringMatching(head) })
    expect(JSON.stringify(stub).length).toBeLessThan(5_000)
  })
})

describe('what is told of a call has an end', () => {
  test('refused args are told and kept by their beginning and their size', async () => {
    const journal = memoryJournal()
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [journal] })
    const events = heard(executor)
    const text64 = JSON.stringify({ a: 'x'.repeat(64 * 1_048_576) })
    const all = [text64, { a: ['x'.repeat(10_000_000)] }, exploding(), Object.assign([], { length: 4_000_000_000 })]
    for (const [index, args] of all.entries()) {
      const invocationId = `call-${index}`
      const result = await executor.execute({ name: 't', args }, { invocationId })
      expect(outcome(result)).toBe('error none E_UNCANONICAL_ARGS')
      const found = await journal.journal.read(invocationId)
      expect(found?.record.input).toMatchObject({ truncated: true, byteLength: expect.any(Number) })
      // The same call is known again by what is left of it.
      expect(outcome(await executor.execute({ name: 't', args }, { invocationId }))).toBe(outcome(result))
    }
    expect(events[0]).toMatchObject({ args: { truncated: true, byteLength: text64.length, head: expect.any(String) } })
    expect(JSON.stringify(events).length).toBeLessThan(100_000)
  })

  test('of args above 256 KiB the record shows the beginning, and the call goes on from all of them', async () => {
    const journal = memoryJournal()
    const tools = [work('t', ({ a }: { a: string }) => a.length, { requiresConfirmation: true })]
    const executor = createExecutor({ tools, use: [journal], argsLimit: 10_000_000 })
    const args = { a: 'x'.repeat(2_000_000) }
    const { token = '', invocationId } = await executor.execute({ name: 't', args })
    expect((await journal.journal.read(invocationId))?.record.input).toMatchObject({ truncated: true })
    expect(text(await executor.calls.decide(token, 'allow'))).toBe('2000000')
    const settled = await journal.journal.read(invocationId)
    expect(JSON.stringify(settled?.record).length).toBeLessThan(10_000)
  })

  test('an input that a validator made larger than any args is told by its beginning', async () => {
    const inputSchema = {
      '~standard': { version: 1, vendor: 'own', validate: () => ({ value: { a: 'x'.repeat(10_000_000) } }) },
    }
    const tool = work('t', ({ a }: { a: string }) => a.length, { inputSchema, jsonSchema: {} })
    const executor = createExecutor({ tools: [tool] })
    const events = heard(executor)
    expect(text(await executor.execute({ name: 't', args: { a: 1 } }))).toBe('10000000')
    expect(events[1]).toMatchObject({ event: 'tool:start', input: { truncated: true } })
    expect(JSON.stringify(events).length).toBeLessThan(10_000)
  })

  test('progress is told by its beginning, however much there is of it', async () => {
    const large: unknown[] = ['x'.repeat(10_000_000), { a: 'x'.repeat(10_000_000) }, exploding(), cyclic(), [1]]
    const tool = work('t', async function* (_: unknown, { emit }: { emit: (type: string, data: unknown) => void }) {
      for (const data of large) {
        emit('x'.repeat(10_000_000), data)
        yield data
      }
    })
    const executor = createExecutor({ tools: [tool] })
    const events = heard(executor)
    await executor.execute({ name: 't' })
    const progress = events.filter((event): event is ToolEvent & { event: 'tool:progress' } => 'data' in event)
    expect(progress).toHaveLength(10)
    for (const { data } of progress.slice(0, 8)) expect(data).toMatchObject({ truncated: true })
    expect(progress.at(-1)?.data).toEqual([1])
    expect(JSON.stringify(events).length).toBeLessThan(200_000)
  })
})
