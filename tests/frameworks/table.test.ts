// What all frameworks promise alike. A framework is a file in `drivers`.
import { globSync } from 'tinyglobby'
import { computeCallId, tool, type Extension } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { missing } from './_installed.ts'
import { createKit, journalFile, type Driver } from './_kit.ts'
import { executorOn } from './_tools.ts'

const files = globSync('*.ts', { cwd: `${import.meta.dirname}/drivers` }).toSorted()
const drivers: Driver[] = []
if (missing === undefined) {
  for (const file of files) {
    const { driver } = (await import(`./drivers/${file.slice(0, -3)}.ts`)) as { readonly driver: Driver }
    drivers.push(driver)
  }
}

const bridge = tool({
  name: 'tool_call',
  description: 'Calls a tool by its name',
  type: 'bridge',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, args: { type: 'object' } },
    required: ['name', 'args'],
  },
})
const bridges = [bridge]
/** Shows a bridge alone. */
const bridged: Extension = { tools: () => bridges, offers: ({ type }) => type === 'bridge' }

const small = { id: 'call_1', name: 'pay', args: { cents: 5 } }
const large = { id: 'call_2', name: 'pay', args: { cents: 500 } }

test.skipIf(missing !== undefined)('each framework has a driver', () => {
  expect(drivers.length).toBe(files.length)
  expect(new Set(drivers.map(({ name }) => name)).size).toBe(drivers.length)
})

describe.skipIf(missing !== undefined).each(drivers.map((driver) => [driver.name, driver] as const))(
  'in %s',
  (_, driver) => {
    test('a call has the same callId as everywhere', async () => {
      const kit = createKit()
      const { words } = await driver.run(kit, small)
      const callId = computeCallId('pay', small.args)
      expect(kit.settled).toMatchObject([{ status: 'ok', callId, id: 'call_1' }])
      expect(words).toContain('"paid":5')
      expect(kit.runs()).toEqual(['pay 5'])
    })

    test.each<[string, unknown]>([
      ['of a wrong type', { cents: 'five' }],
      ['that the schema does not know', { cents: 5, tip: 1 }],
      ['that are missing', {}],
    ])('args %s are refused in our words, and nothing runs', async (_title, args) => {
      const kit = createKit()
      const { words, isAsked } = await driver.run(kit, { ...small, args })
      const [block] = (await kit.executor.execute({ name: 'pay', args })).content
      expect(words).toContain(block?.type === 'text' ? block.text : 'a text')
      expect([isAsked, kit.runs()]).toEqual([false, []])
    })

    test('what a handler throws is told in its words', async () => {
      const { words } = await driver.run(createKit(), { id: 'call_1', name: 'fail', args: {} })
      expect(words).toContain('No such order. Recommendations: List the orders.')
    })

    test('a call that needs approval runs 0 times before it and once after it', async () => {
      const kit = createKit()
      const before = await driver.run(kit, large)
      expect(before.isAsked).toBe(driver.asksNoPerson !== true)
      expect(kit.runs()).toEqual([])
      const [waiting] = await kit.executor.calls.waiting()
      expect(waiting).toMatchObject({ prompt: 'Pay 500?', toolName: 'pay' })
      if (driver.asksNoPerson === true && waiting !== undefined) await kit.executor.calls.decide(waiting, 'allow')
      const { words } = await driver.run(kit, large, { answer: 'allow' })
      expect(words).toContain('"paid":500')
      expect(kit.runs()).toEqual(['pay 500'])
      expect(await kit.executor.calls.waiting()).toEqual([])
    })

    test('a call through a bridge is asked about, and runs, as that of the tool which it names', async () => {
      const kit = createKit(journalFile(), [bridged])
      expect(kit.executor.tools().map(({ name }) => name)).toEqual(['tool_call'])
      const through = (call: typeof small): typeof small & { args: object } => {
        return { id: call.id, name: 'tool_call', args: { name: call.name, args: call.args } as never }
      }
      expect((await driver.run(kit, through(small))).words).toContain('"paid":5')
      const before = await driver.run(kit, through(large))
      expect([before.isAsked, kit.runs()]).toEqual([driver.asksNoPerson !== true, ['pay 5']])
      const [waiting] = await kit.executor.calls.waiting()
      expect(waiting).toMatchObject({ prompt: 'Pay 500?', toolName: 'pay', args: { cents: 500 } })
      if (driver.asksNoPerson === true && waiting !== undefined) await kit.executor.calls.decide(waiting, 'allow')
      expect((await driver.run(kit, through(large), { answer: 'allow' })).words).toContain('"paid":500')
      expect(kit.runs()).toEqual(['pay 5', 'pay 500'])
      const callId = computeCallId('pay', large.args)
      expect(kit.settled.at(-1)).toMatchObject({ status: 'ok', toolName: 'pay', callId })
      expect(await kit.executor.calls.waiting()).toEqual([])
    })

    test('a call that is denied does not run, and its record says so', async ({ skip }) => {
      skip(driver.asksNoPerson === true, 'left out: the framework asks no person')
      const kit = createKit()
      const { words } = await driver.run(kit, large, { answer: 'deny' })
      expect(kit.runs()).toEqual([])
      expect(words).not.toContain('paid')
      expect(kit.settled.at(-1)).toMatchObject({ status: 'denied', effect: 'none' })
      expect(await kit.executor.calls.waiting()).toEqual([])
    })

    test('a call that is given up is cancelled', async () => {
      const kit = createKit()
      const leaving = new AbortController()
      const run = driver.run(kit, { id: 'call_1', name: 'wait', args: {} }, { signal: leaving.signal })
      void run.catch(() => {}) // some frameworks reject
      await kit.waits
      leaving.abort()
      await expect.poll(() => kit.settled.at(-1)?.status, { timeout: 20_000 }).toBe('cancelled')
      await run.catch(() => {})
    })

    test('a result of 40 kB is a preview, and the artifact tool finds its last line', async () => {
      const kit = createKit()
      const { words = '' } = await driver.run(kit, { id: 'call_1', name: 'log', args: {} })
      expect(words.length).toBeLessThan(4_000)
      const [artifact] = /artifact_[0-9a-f]+/.exec(words) ?? []
      const args = { artifact, pattern: 'line 3999' }
      const found = await driver.run(kit, { id: 'call_2', name: 'artifact_grep', args })
      expect(found.words).toContain('line 3999')
    })

    test('a conversation goes on in another executor on the same file', async () => {
      const kit = createKit()
      await driver.run(kit, small)
      const other = executorOn(kit.file)
      const { words } = await driver.run({ ...kit, executor: other }, small)
      await other.close()
      expect(words).toContain('"paid":5')
      expect(kit.runs()).toEqual(['pay 5'])
    })
  },
)
