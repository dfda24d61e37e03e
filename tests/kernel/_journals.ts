import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Extension, ToolEvent } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { foldEvent, type Journal, type ListedRecord, records } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { onTestFinished } from 'vitest'

/** An extension with its journal. */
export type Mounted = Extension & { readonly journal: Journal }

/** A place where records lie, on which several executors may open journals of their own. */
export interface Place {
  readonly open: () => Mounted
  /** The file, where there is one. */
  readonly file?: string
}

/** A directory that is gone after the test. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function memory(): Place {
  const mounted = memoryJournal()
  return { open: () => mounted }
}

function sqlite(): Place {
  const file = join(directory(), 'calls.db')
  return {
    file,
    open: () => {
      const mounted = sqliteJournal(file)
      onTestFinished(() => mounted.close())
      return mounted
    },
  }
}

/** The journals that are always at hand, by name. */
export const places: readonly (readonly [string, () => Place])[] = [
  ['memory', memory],
  ['SQLite', sqlite],
]

type Changes = { readonly [Method in keyof Journal]?: (journal: Journal) => Journal[Method] }

const optional = ['take', 'unsent', 'depth', 'settledOf', 'watch', 'requestCancel', 'delete', 'cuts', 'onDrop'] as const

/** A journal of which some methods are others; the changed ones may go on to the real ones. */
export function changed(extension: Mounted, changes: Changes): Mounted {
  const { journal } = extension
  const own = Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, change(journal)]))
  const mounted: Journal = {
    isDurable: journal.isDurable,
    claim: (record, owner) => journal.claim(record, owner),
    write: (record, fence) => journal.write(record, fence),
    read: (invocationId) => journal.read(invocationId),
    takeOver: (invocationId, fence, owner) => journal.takeOver(invocationId, fence, owner),
    list: (query, report) => journal.list(query, report),
    beat: (owner) => journal.beat(owner),
    ...Object.fromEntries(optional.map((name) => [name, journal[name]?.bind(journal)])),
    ...own,
  }
  return { journal: mounted, ...records(mounted), close: () => extension.close?.() }
}

/** A journal that tells of every change to a record, before it is made and after. */
export function logged(mounted: Mounted, log: string[]): Mounted {
  const around = async <Value>(
    name: string,
    record: ToolCallRecord,
    change: () => Value | Promise<Value>,
  ): Promise<Value> => {
    log.push(`${name} ${record.state}`)
    const value = await change()
    log.push('kept')
    return value
  }
  return changed(mounted, {
    claim: (journal) => (record, owner) => around('claim', record, () => journal.claim(record, owner)),
    write: (journal) => (record, fence) => around('write', record, () => journal.write(record, fence)),
  })
}

/** The record of an invocation, where there has to be one. */
export async function recordIn({ journal }: Mounted, invocationId: string): Promise<ToolCallRecord> {
  const found = await journal.read(invocationId)
  if (found === null) throw new Error(`there is no record of ${invocationId}`)
  return found.record
}

export async function unfinishedIn({ journal }: Mounted): Promise<ListedRecord[]> {
  const all: ListedRecord[] = []
  for (const state of ['waiting', 'running'] as const) {
    for await (const one of journal.list({ state })) all.push(one)
  }
  return all
}

/** What the events of an invocation come to. */
export function foldOf(events: readonly ToolEvent[], invocationId: string): ToolCallRecord {
  let record: ToolCallRecord | undefined
  for (const event of events) if (event.invocationId === invocationId) record = foldEvent(record, event)
  if (record === undefined) throw new Error(`there is no event of ${invocationId}`)
  return record
}

/** A record as a reader of events knows it, and as JSON has it. */
export function publicRecordOf({ journal: _journal, ...record }: ToolCallRecord): unknown {
  return JSON.parse(JSON.stringify(record)) as unknown
}
