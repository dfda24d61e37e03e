import { existsSync } from 'node:fs'
import type { ParseArgsOptionsConfig } from 'node:util'
import { createExecutor, ToolRegistry, type Extension, type ToolExecutor } from '../index.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { note, thrownMessage, type Host } from './host.ts'

/** The option of commands that read or write records of calls. */
export const journalOptions: ParseArgsOptionsConfig = { journal: { type: 'string' } }

/** Opens the journal of `--journal`, whose file may be new. Returns no extension without the option. */
export async function openJournal(options: CommandLine): Promise<readonly Extension[]> {
  const file = options.text('journal')
  if (file === undefined) return []
  if (file === '') throw new UsageError('--journal takes the path of an SQLite file, got "".')
  const { sqliteJournal } = await import('../journals/sqlite.ts') // it needs a Node.js with SQLite
  return [sqliteJournal(file)]
}

/**
 * Opens a journal that has to exist, so that a mistyped path makes no empty one.
 *
 * @throws {UsageError} if the option is missing, or there is no such file.
 */
export async function openExistingJournal(options: CommandLine): Promise<readonly Extension[]> {
  const file = options.text('journal')
  if (file === undefined) throw new UsageError('--journal is missing. Give the SQLite file that has the calls.')
  if (file !== '' && !existsSync(file)) throw new UsageError(`There is no file ${file}. Give the journal of the calls.`)
  return openJournal(options)
}

/** Does some work with the records of an existing journal. Needs no tools. */
export async function withRecords<Value>(
  options: CommandLine,
  host: Host,
  work: (executor: ToolExecutor) => Promise<Value>,
): Promise<Value> {
  const executor = createExecutor({
    tools: new ToolRegistry(),
    use: await openExistingJournal(options),
    report: (error) => note(host, thrownMessage(error)),
  })
  try {
    return await work(executor)
  } finally {
    await executor.close()
  }
}
