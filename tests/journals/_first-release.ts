// A journal as release 0.1.0 left it, and the tools whose calls it has.
import { readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { clientTool, tool, type Tool } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { lessInTables } from './_older.ts'

type Row = Readonly<Record<string, SQLInputValue>>

const written = JSON.parse(readFileSync(new URL('first-release.json', import.meta.url), 'utf8')) as {
  readonly version: number
  readonly schema: readonly string[]
  readonly tables: Readonly<Record<'calls' | 'owners' | 'cuts', readonly Row[]>>
}

/** The records as that release wrote them. */
export const releasedRecords: readonly ToolCallRecord[] = written.tables.calls.map(
  ({ record }) => JSON.parse(record as string) as ToolCallRecord,
)

/** Makes the file again. */
export function makeReleasedFile(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; ${written.schema.join(';\n')}; PRAGMA user_version = ${written.version}`)
  for (const [table, rows] of Object.entries(written.tables)) {
    for (const row of rows) {
      const [names, values] = [Object.keys(row), Object.values(row)]
      const places = names.map(() => '?').join(', ')
      database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...values)
    }
  }
  database.close()
}

/** Puts the rows into tables of the present version, which are empty, and sets them back to those of that release. */
export async function makeReleasedTables(
  query: (text: string, values?: unknown[]) => Promise<unknown>,
  schema: string,
): Promise<void> {
  for (const { updated_at: _time, cancel, ...row } of written.tables.calls) {
    const [names, values] = [Object.keys(row), Object.values(row)]
    const places = names.map((_, index) => `$${index + 1}`).join(', ')
    await query(
      `INSERT INTO "${schema}".toolwright_calls (${names.join(', ')}, cancel) VALUES (${places}, ${cancel === 1})`,
      values,
    )
  }
  for (const statement of lessInTables(schema).slice(0, 4)) await query(statement)
}

/** The tools as they were, with a list of what ran. */
export function releasedTools(ran: string[]): Tool[] {
  const charge = {
    type: 'object',
    properties: { cents: { type: 'integer' } },
    required: ['cents'],
  } as const
  const add = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  } as const
  return [
    tool({
      name: 'add',
      description: 'Adds two numbers',
      inputSchema: add,
      traits: { idempotent: true },
      handler: ({ a, b }, { invocationId }) => (ran.push(invocationId), a + b),
    }),
    tool({
      name: 'charge',
      description: 'Charges an account',
      inputSchema: charge,
      handler: ({ cents }, { invocationId }) => (ran.push(invocationId), { charged: cents }),
    }),
    clientTool({
      name: 'form',
      description: 'Asks the user',
      inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
      requiresResponse: true,
      timeout: 0,
    }),
    tool({
      name: 'lookup',
      description: 'Looks up a word',
      inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
      handler: () => {
        throw new Error('The dictionary is gone.')
      },
    }),
  ]
}
