// A file that was read is not read again for five minutes, and a failure is never remembered.
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { cache } from 'toolwright/middleware/cache'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'

let reads: string[] = []
let files = new Map<string, string>()

const path = z.object({ path: z.string() })

const fsRead = tool({
  name: 'fs_read',
  description: 'Reads a file',
  inputSchema: path,
  traits: { readonly: true },
  handler: (input) => {
    reads.push(input.path)
    const found = files.get(input.path)
    if (found === undefined) throw new Error(`ENOENT: ${input.path}`)
    return found
  },
})

const fsTouch = tool({
  name: 'fs_touch',
  description: 'Makes a file new',
  inputSchema: path,
  handler: (input) => {
    reads.push(input.path)
    return 'touched'
  },
})

let executor: ToolExecutor

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  reads = []
  files = new Map([['a.txt', 'first']])
  executor = createExecutor({ tools: [fsRead, fsTouch], use: [cache({ ttl: 300_000 })] })
})

afterEach(() => {
  vi.useRealTimers()
})

async function read(file: string, session = 'ada'): Promise<unknown> {
  const { status, content } = await executor.execute({ name: 'fs_read', args: { path: file } }, { session })
  const [block] = content
  return status === 'ok' && block?.type === 'text' ? block.text : status
}

test('the second reading comes from the cache, until five minutes have passed', async () => {
  expect(await read('a.txt')).toBe('first')
  files.set('a.txt', 'second')
  expect(await read('a.txt')).toBe('first')
  vi.advanceTimersByTime(299_999)
  expect(await read('a.txt')).toBe('first')
  vi.advanceTimersByTime(2)
  expect(await read('a.txt')).toBe('second')
  expect(reads).toEqual(['a.txt', 'a.txt'])
})

test('a failure is tried again', async () => {
  expect(await read('b.txt')).toBe('error')
  files.set('b.txt', 'there')
  expect(await read('b.txt')).toBe('there')
  expect(reads).toEqual(['b.txt', 'b.txt'])
})

test('another session reads for itself', async () => {
  expect([await read('a.txt'), await read('a.txt', 'eve')]).toEqual(['first', 'first'])
  expect(reads).toHaveLength(2)
})

test('what changes something is done each time', async () => {
  for (const _ of [1, 2]) await executor.execute({ name: 'fs_touch', args: { path: 'a.txt' } }, { session: 'ada' })
  expect(reads).toHaveLength(2)
})

test('whoever watches sees which results came from the cache', async () => {
  const hits: unknown[] = []
  executor.on('tool:progress', ({ type, data }) => void hits.push([type, data]))
  await read('a.txt')
  await read('a.txt')
  expect(hits).toEqual([['cache', { hit: true }]])
})
