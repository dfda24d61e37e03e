import { describe, expect, test } from 'vitest'
import type { ToolCallRecord } from '../../extension.ts'
import { fixtureRecord, held, listedBy } from './_records.ts'
import type { JournalSuite } from './_suite.ts'

type FixtureJournal = NonNullable<ToolCallRecord['journal']>

const today = 1_790_000_000_123
const spacedText = ' two\r\nlines '

// The compiler asks for each field: a journal with a column for each would lose one that is missing here.
const fullWait: Required<NonNullable<FixtureJournal['awaits']>> = {
  reason: 'worker',
  digest: 'd',
  fingerprint: 'f',
  expiresAt: today + 60_000,
  prompt: 'Pay?',
  lease: { holder: 'tab', since: today, until: today + 1 },
  text: '{"to":null}',
  result: { rows: [null, '', 0, false] },
  id: 'i'.repeat(2_000),
  isApproved: true,
  work: { queue: 'default', attempts: 2, isRepeatable: true, isAlone: true, values: { locale: 'nb', none: null } },
}

const fullJournal: Required<FixtureJournal> = {
  caller: { app: 'shop' },
  principal: 'ada',
  program: { type: 'program', id: 'srvtoolu_1' },
  owner: 'mine',
  fence: 0,
  hasStarted: true,
  awaits: fullWait,
  work: { ...fullWait, lease: { holder: 'tab', since: today, until: today + 2 } },
  args: '{"to":"Oslo"}',
  finding: { status: 'ok', effect: 'completed' },
  result: [
    { type: 'text', text: spacedText },
    { type: 'json', data: { none: null } },
  ],
  stored: { handle: 's', sha256: '0'.repeat(64) },
  handle: 'h',
  artifact: { kind: 'text', mediaType: 'text/plain', byteLength: 7 },
  failure: { name: 'ToolError', code: 'E_TOOL_DOWNSTREAM_ERROR', message: spacedText, retryable: false },
  skipped: true,
  digest: '1'.repeat(64),
  previous: '',
}

const fullRecord: Required<ToolCallRecord> = {
  ...fixtureRecord('a'),
  callId: 'c'.repeat(64),
  name: 'n'.repeat(128),
  toolCallId: 7,
  via: 'v'.repeat(128),
  editedFrom: 'e'.repeat(64),
  repairedFrom: 'r'.repeat(64),
  repairs: [{ step: 'number-from-text', path: ['rows', 0] }],
  effectKey: 'k'.repeat(64),
  parent: 'p',
  reconciles: 'o',
  input: { none: null, empty: ['', {}, []], at: '2026-01-01T00:00:00.000Z', text: spacedText },
  approval: { required: true, decidedAt: today, prompt: 'Pay?', why: spacedText, meta: { none: null } },
  status: 'error',
  error: spacedText,
  isError: true,
  createdAt: today,
  updatedAt: today + 4,
  startedAt: today + 1,
  completedAt: today + 3,
  durationMs: 2.125,
  auditTrail: [
    { state: 'PENDING', timestamp: today },
    { state: 'EXECUTING', timestamp: today + 1, note: spacedText },
    { state: 'FAILED', timestamp: today + 3 },
  ],
  journal: fullJournal,
}

/** Returns the fields that are not as expected in a JSON value, by their paths. */
function lossesOf(expected: unknown, found: unknown, path = ''): string[] {
  if (typeof expected !== 'object' || expected === null || typeof found !== 'object' || found === null)
    return Object.is(expected, found) ? [] : [path]
  const members = new Map(Object.entries(found))
  const names = new Set([...Object.keys(expected), ...members.keys()])
  return [...names].flatMap((name) =>
    lossesOf((expected as Record<string, unknown>)[name], members.get(name), path === '' ? name : `${path}.${name}`),
  )
}

/** Tests that no field of a record is lost. */
export function describeFields({ title, newJournal }: JournalSuite): void {
  describe(`${title} keeps every field that a record can have`, () => {
    const { awaits: _, ...goesOn } = fullJournal
    const { completedAt: __, ...unsettled } = fullRecord
    const records: readonly (readonly [string, ToolCallRecord])[] = [
      ['waits', { ...unsettled, state: 'PENDING', journal: fullJournal }],
      ['runs', { ...unsettled, state: 'EXECUTING', journal: goesOn }],
      ['has settled', { ...fullRecord, state: 'FAILED', journal: goesOn }],
    ]

    test.each(records)('if the call %s', async (_title, record) => {
      const journal = await newJournal()
      const claimed = { ...record, id: 'claimed' }
      await journal.claim(claimed, 'mine')
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await journal.write(record, fence)
      const found = [
        (await journal.read('claimed'))?.record,
        (await journal.read('a'))?.record,
        ...(await listedBy(journal, { session: record.session })).map((listed) => listed.record),
        ...((await journal.settledOf?.(['a', 'claimed'])) ?? []).map((settled) => settled.record),
      ]
      expect(found.length).toBeGreaterThanOrEqual(4)
      const changed = found.flatMap((one) => lossesOf(one?.id === 'a' ? record : claimed, one))
      expect([...new Set(changed)], 'the fields that came back otherwise than they were written').toEqual([])
    })
  })
}
