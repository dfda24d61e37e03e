import { createExecutor, tool, type ToolResult } from 'toolwright'
import { fleet } from 'toolwright/distributed/fleet'
import { createWorker } from 'toolwright/distributed/worker'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { fileStore } from 'toolwright/stores/file'
import { cassette, type Tape } from 'toolwright/testing/cassettes'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tapeFolder } from './_tapes.ts'

const newPath = tapeFolder()
let ran = 0
const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  async handler({ a, b }, { emit }) {
    emit('adding', { a })
    await Promise.resolve()
    return { sum: a + b, ticket: ran++ }
  },
})
const outcomeOf = ({ status, effect, content }: ToolResult): string => JSON.stringify([status, effect, content])

describe('a tape', () => {
  it('of a worker records and replays the calls that it takes', async () => {
    const path = newPath()
    const run = async (mode: 'record' | 'replay'): Promise<[readonly string[], Tape]> => {
      const [database, folder] = [newPath(), newPath()]
      const tape = cassette(path, { mode, strict: true, store: fileStore(folder).store })
      const worker = createWorker({
        executor: createExecutor({ tools: [add], use: [sqliteJournal(database), tape] }),
        queues: { default: 4 },
      })
      const executor = createExecutor({ tools: [add], use: [sqliteJournal(database), fileStore(folder), fleet()] })
      const results: string[] = []
      for (const b of [1, 2, 1])
        results.push(outcomeOf(await executor.execute({ name: 'add', args: { a: 1, b } }, { session: 's' })))
      await executor.close()
      await worker.close()
      return [results, tape]
    }
    const [recorded] = await run('record')
    expect(ran).toBe(3)
    const [replayed, tape] = await run('replay')
    expect(replayed).toEqual(recorded)
    expect(ran).toBe(3)
    expect(tape.recorded).toMatchObject([
      { tool: 'add', occurrence: 0 },
      { tool: 'add' },
      { tool: 'add', occurrence: 1 },
    ])
    tape.verify()
  })

  it('serves two executors that take turns', async () => {
    const path = newPath()
    const before = ran
    const run = async (mode: 'record' | 'replay'): Promise<readonly string[]> => {
      const tape = cassette(path, { mode })
      const executors = [1, 2].map(() => createExecutor({ tools: [add], use: [tape] }))
      const results: string[] = []
      for (const executor of [...executors, ...executors]) {
        results.push(outcomeOf(await executor.execute({ name: 'add', args: { a: 1, b: 1 } }, { session: 's' })))
      }
      for (const executor of executors) await executor.close()
      tape.verify()
      return results
    }
    const recorded = await run('record')
    expect(await run('replay')).toEqual(recorded)
    expect(ran - before).toBe(4)
  })

  it('of a call that its caller cancels midway replays the same', async () => {
    const waits = tool({ name: 'waits', description: 'Waits', handler: () => new Promise<never>(() => {}) })
    const path = newPath()
    const run = async (mode: 'record' | 'replay'): Promise<string> => {
      const tape = cassette(path, { mode })
      const executor = createExecutor({ tools: [waits], use: [tape] })
      const controller = new AbortController()
      executor.on('tool:start', () => setImmediate(() => controller.abort()))
      const result = await executor.execute({ name: 'waits' }, { signal: controller.signal, session: 's' })
      await executor.close()
      tape.verify()
      return outcomeOf(result)
    }
    const recorded = await run('record')
    expect(recorded).toMatch(/cancelled/)
    expect(await run('replay')).toBe(recorded)
  })

  it('of functions of the application that throw fails calls in words, and not the process', async () => {
    const faults: unknown[] = []
    const failing = (): never => {
      throw new Error('a fault of the test')
    }
    const tape = cassette(newPath(), { mode: 'record', live: failing })
    const executor = createExecutor({ tools: [add], use: [tape], report: (fault) => faults.push(fault) })
    expect(await executor.execute({ name: 'add', args: { a: 1, b: 1 } })).toMatchObject({ status: 'error' })
    const labelled = cassette(newPath(), { mode: 'record', label: failing })
    const other = createExecutor({ tools: [add], use: [labelled], report: (fault) => faults.push(fault) })
    expect(await other.execute({ name: 'add', args: { a: 1, b: 1 } })).toMatchObject({ status: 'ok' })
    expect(faults.map(String)).toContain('Error: a fault of the test')
  })
})
