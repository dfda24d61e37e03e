import type { ToolCallRecord } from '../../extension.ts'
import type { Fence, FoundRecord, Journal, ListedRecord, RecordQuery } from '../../records/index.ts'
import { requireMethods } from '../_methods.ts'

/** A journal all of whose answers are promises. What it leaves out stays out. */
export interface Promising extends Journal {
  claim(...parameters: Parameters<Journal['claim']>): Promise<Fence | null>
  write(...parameters: Parameters<Journal['write']>): Promise<boolean>
  read(invocationId: string): Promise<FoundRecord | null>
  takeOver(...parameters: Parameters<Journal['takeOver']>): Promise<Fence | null>
  beat(owner: string): Promise<void | readonly string[]>
}

type OptionalName = { [Name in keyof Journal]-?: undefined extends Journal[Name] ? Name : never }[keyof Journal]

// The compiler asks for each of them: the tests of a method that is missing here would be skipped for every journal.
const optionalMethods: { readonly [Name in Exclude<OptionalName, 'bus'>]: true } = {
  take: true,
  unsent: true,
  free: true,
  depth: true,
  settledOf: true,
  watch: true,
  requestCancel: true,
  claimEffect: true,
  delete: true,
  cuts: true,
  onDrop: true,
}

const requiredMethods = ['claim', 'write', 'read', 'takeOver', 'list', 'beat'] as const

/** More records than any test of the suite makes. */
const mostEntries = 10_000

/** Hands records on, and ends a list that has no end: no time limit of a runner can, since it never lets a timer run. */
async function* endingList(list: AsyncIterable<ListedRecord>): AsyncGenerator<ListedRecord, void> {
  let count = 0
  for await (const entry of list) {
    if (++count > mostEntries)
      throw new Error(`\`list\` gave more than ${mostEntries} records, and the place has fewer.`)
    yield entry
  }
}

/** A journal whose answers can all be waited for, whether it has them at once or not. It may be an instance of a class. */
export function promising(journal: Journal): Promising {
  requireMethods(
    journal,
    requiredMethods,
    `\`open\` gives \`{ journal }\`, and not as a promise: a journal has \`${requiredMethods.join('`, `')}\``,
  )
  const methods = (Object.keys(optionalMethods) as OptionalName[]).filter((name) => journal[name] !== undefined)
  return {
    isDurable: journal.isDurable,
    claim: async (...args) => journal.claim(...args),
    write: async (...args) => journal.write(...args),
    read: async (invocationId) => journal.read(invocationId),
    takeOver: async (...args) => journal.takeOver(...args),
    list: (query, report) => endingList(journal.list(query, report)),
    beat: async (owner) => journal.beat(owner),
    ...(journal.bus && { bus: journal.bus }),
    ...Object.fromEntries(methods.map((name) => [name, (journal[name] as () => unknown).bind(journal)])),
  }
}

/** An extension whose journal gives promises alone. */
export type Opened<Made extends { readonly journal: Journal }> = Omit<Made, 'journal'> & { readonly journal: Promising }

export function openedJournal<Made extends { readonly journal: Journal }>(extension: Made): Opened<Made> {
  return { ...extension, journal: promising(extension.journal) }
}

/** A record as it is first written, or with some of its fields changed. */
export function fixtureRecord(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    id,
    callId: 'c'.repeat(64),
    name: 'send',
    session: 'one',
    input: { to: 'Oslo' },
    state: 'EXECUTING',
    approval: { required: false },
    effect: 'unknown',
    createdAt: 1_000,
    updatedAt: 1_001,
    auditTrail: [{ state: 'EXECUTING', timestamp: 1_001 }],
    seq: 2,
    ...changes,
  }
}

export function settledOf(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return fixtureRecord(id, { state: 'COMPLETED', status: 'ok', effect: 'completed', ...changes })
}

/** A record that waits for an answer. */
export function waitingOf(
  id: string,
  changes: Partial<ToolCallRecord> = {},
  pause: Partial<NonNullable<NonNullable<ToolCallRecord['journal']>['awaits']>> = {},
): ToolCallRecord {
  const awaits = { reason: 'approval', digest: 'd', fingerprint: 'f', expiresAt: 9_000, text: '{}', ...pause } as const
  return fixtureRecord(id, {
    state: 'APPROVAL_REQUIRED',
    journal: { caller: 'model', owner: 'mine', fence: 0, awaits },
    ...changes,
  })
}

/** What a query lists. */
export async function listedBy(journal: Journal, query: RecordQuery = {}): Promise<ListedRecord[]> {
  const listed: ListedRecord[] = []
  for await (const entry of journal.list(query)) listed.push(entry)
  return listed
}

/** Everything that is not settled. */
export async function unfinishedOf(journal: Journal): Promise<ListedRecord[]> {
  return [...(await listedBy(journal, { state: 'waiting' })), ...(await listedBy(journal, { state: 'running' }))]
}

/** Returns a fence that has to be there. */
export async function held(fence: ReturnType<Journal['claim']>): Promise<Fence> {
  const result = await fence
  if (result === null) throw new Error('there was no fence')
  return result
}

/** Texts that databases and parsers get wrong. */
export const oddTexts: readonly (readonly [title: string, text: string])[] = [
  ['a line separator', 'a\u2028b\u2029c'],
  ['emoji', 'a 👩‍👩‍👧 family and a 🇳🇴 flag'],
  ['control characters', '\0\u0001\b\t\n\v\f\r\u001b\u007f\u0085'],
  ['quotes and backslashes', `'"\`\\''""\\\\ $1 ?1 :id @id %s %_ ; -- /* */ $$`],
  ['right-to-left marks', '\u202eabc\u202c \u2066def\u2069'],
  ['a noncharacter and a byte order mark', '\ufeffa\uffff\ufdd0'],
  ['what looks like an escape', '\\u0000 \\ud800'],
  ['a lone surrogate', 'a\ud800b\udfffc'],
  ['nothing', ''],
  ['a megabyte', 'grüße '.repeat(180_000)],
]

/** Ids that databases take for one another, or for SQL. */
export const oddIds: readonly string[] = [
  `'; DROP TABLE calls; --`,
  `x' OR '1'='1`,
  `"; DROP SCHEMA public CASCADE; --`,
  '$1',
  '?1',
  '%',
  '_',
  '\\',
  '*',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '00',
  ' ',
  'x',
  'x ',
  'X',
  'e\u0301',
  '\u00e9',
  '\u2028',
  '\n',
  '👩‍👩‍👧',
  '\ufffd',
  'a'.repeat(1_000),
  `${'a'.repeat(999)}b`,
]
