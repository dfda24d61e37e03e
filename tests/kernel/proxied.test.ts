import { createExecutor, ToolFailure, type Extension } from 'toolwright'
import { ArtifactError, JournalError, ToolDeniedError, ToolDownstreamError } from 'toolwright/errors'
import { memoryJournal } from 'toolwright/journals/memory'
import { records } from 'toolwright/records'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sink, work } from './_calls.ts'

const errors: readonly (readonly [string, () => object])[] = [
  ['a failure', () => new ToolFailure('words', { recommendations: ['again'], retryable: true })],
  ['a denial', () => new ToolDeniedError('words', { toolResult: 'words' })],
  ['an error of a tool', () => new ToolDownstreamError('words', { cause: new ToolFailure('within') })],
  ['an error of a store', () => new ArtifactError('words')],
  ['an error of a journal', () => new JournalError('words')],
]

/** Returns a proxy that answers so many times, whatever it is asked, and then throws. */
function failing(target: object, answers: number): object {
  let left = answers
  const trap = (_: object, name: 'get'): ProxyHandler<object>['get'] => {
    return (of, key, receiver) => {
      if (left-- <= 0) throw new Error('no answer')
      return Reflect[name](of, key, name === 'get' ? of : receiver)
    }
  }
  return new Proxy(target, new Proxy({}, { get: trap as never }))
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** More questions than the kernel ever asks of an error. */
const mostAnswers = 24
const ways = [
  revoked,
  ...Array.from({ length: mostAnswers }, (_, answers) => (target: object) => failing(target, answers)),
]

interface Case {
  readonly use?: readonly Extension[]
  readonly options?: object
  readonly handler?: () => unknown
}

const places: readonly (readonly [string, (fail: () => never) => Case])[] = [
  ['a handler', (fail) => ({ handler: fail })],
  ['a handler that waits', (fail) => ({ handler: async () => fail() })],
  [
    'a generator',
    (fail) => ({
      handler: async function* () {
        yield 1
        fail()
      },
    }),
  ],
  ['a middleware', (fail) => ({ use: [{ middleware: [async () => fail()] }] })],
  ['a hook', (fail) => ({ options: { hooks: { postToolUse: fail } } })],
  ['a policy', (fail) => ({ use: [{ policies: [{ name: 'hostile', decide: fail }] }] })],
  ['a policy that waits', (fail) => ({ use: [{ policies: [{ name: 'hostile', decide: async () => fail() }] }] })],
  ['a schema', (fail) => ({ options: { inputSchema: z.object({}).transform(fail) } })],
  ['an approver', (fail) => ({ options: { requiresConfirmation: true }, use: [{ approver: { ask: fail } }] })],
  [
    'a store',
    (fail) => ({
      handler: () => 'x'.repeat(100_000),
      use: [{ store: { write: fail, open: fail, delete: fail } }],
    }),
  ],
  ['a journal', (fail) => ({ use: [records({ ...memoryJournal().journal, write: fail })] })],
]

// A proxy may also work until the kernel has taken it for what it stands for.
describe.each(places)('%s that throws a proxy', (_, caseOf) => {
  test.each(errors)('around %s fails its call and not the kernel', async (__, make) => {
    for (const around of ways) {
      for (const secrets of [[], ['/pin']]) {
        const { report, reports } = sink()
        const {
          use = [],
          options,
          handler = () => 'done',
        } = caseOf(() => {
          throw around(make()) // oxlint-disable-line typescript/only-throw-error -- the point of it
        })
        const executor = createExecutor({ tools: [work('act', handler, { ...options, secrets })], use, report })
        const result = await executor.execute({ name: 'act', args: { pin: '4711' } })
        expect(result.error?.code).toMatch(/^E_(?!INTERNAL)/)
        expect(reports).toEqual([])
        expect(JSON.parse(JSON.stringify(result))).toMatchObject({ error: { code: result.error?.code } })
      }
    }
  })
})
