// What every package is put through: the same tools, and the same calls of a model.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Call } from '../_kit.ts'

export type { Call } from '../_kit.ts'

/** A tool, as each package is given it. */
export interface Offer {
  readonly name: string
  readonly description: string
  readonly schema: z.ZodObject
  /** What the handler does. It ignores the signal that it is handed. */
  readonly run: (args: never, signal?: AbortSignal) => unknown
}

export interface Scene {
  /** What a package stores, it stores here. */
  readonly folder: string
  readonly offers: readonly Offer[]
  /** The calls of each turn of the model. Then it says that it is done. */
  readonly turns: readonly (readonly Call[])[]
  /** How long a handler may take, in milliseconds. */
  readonly timeout?: number
  /** The caller's signal. */
  readonly signal?: AbortSignal
  /** Whether a person is asked before a handler runs. */
  readonly isAsked?: true
}

export interface Heard {
  /** What the model read as the result of a call; nothing if it read no result. */
  readonly resultOf: (id: string) => string | undefined
  /** The names of the tools that the model was offered. */
  readonly offered: readonly string[]
}

/** Declarations of tools in which no word of a time limit occurs. If a release brings one, the comparison fails. */
export interface NoTimeout {
  /** Files of declarations, as a glob below `node_modules`. */
  readonly files: string
}

/** Modules that export nothing to store calls with. If a release brings it, the comparison fails. */
export interface NoStorage {
  readonly modules: readonly string[]
  /** Exported stores of something else. */
  readonly but: readonly string[]
}

/** A package, with a model that makes calls. */
export interface Compared {
  readonly name: string
  readonly packages: readonly string[]
  /** Which of its parts are used, in words. */
  readonly uses: string
  /** What it gives beside, and is not measured. */
  readonly beside: string
  /** Set if the package has no option for the time that a handler may take. */
  readonly noTimeout?: NoTimeout
  /** Set if the package has no place for what is known of calls, which outlives a process. */
  readonly noStorage?: NoStorage
  readonly run: (scene: Scene) => Promise<Heard>
  /** Runs until a person is asked. Returns what the application keeps, as plain data. */
  readonly ask: (scene: Scene) => Promise<unknown>
  /** Gives the person's answer, which is yes. */
  readonly answer: (scene: Scene, kept: unknown) => Promise<Heard>
  /** Goes on after a process was killed. Without it, the request is sent again. */
  readonly goOn?: (scene: Scene) => Promise<Heard>
}

/** The length of the large result, in bytes. */
export const large = 300_000

/** Makes a scene in a folder of its own, whose handlers note their runs there. */
export function sceneIn(
  parent: string,
  name: string,
  rest: Omit<Scene, 'folder' | 'offers'>,
  hold?: () => Promise<unknown>,
): Scene {
  const folder = join(parent, name)
  mkdirSync(folder, { recursive: true })
  const noted = (line: string): void => appendFileSync(`${folder}.runs`, `${line}\n`)
  const cents = z.object({ cents: z.number().int().describe('How much') })
  const offers: Offer[] = [
    {
      name: 'pay',
      description: 'Pays',
      schema: cents,
      run: (args: { readonly cents: unknown }) => {
        noted('pay')
        return `paid ${String(args.cents)}`
      },
    },
    { name: 'log', description: 'Reads the log', schema: z.object({}), run: () => linesOf(large) },
    {
      name: 'wait',
      description: 'Waits',
      schema: z.object({}),
      run: async (_: unknown, signal?: AbortSignal) => {
        noted('wait')
        signal?.addEventListener('abort', () => noted('aborted'))
        await hold?.()
        return 'waited'
      },
    },
  ]
  return { folder, offers, ...rest }
}

/** The lines that the handlers of a scene noted, in every process. */
export function notesOf({ folder }: Scene, line: string): number {
  if (!existsSync(`${folder}.runs`)) return 0
  return readFileSync(`${folder}.runs`, 'utf8')
    .split('\n')
    .filter((each) => each === line).length
}

function linesOf(bytes: number): string {
  const line = `${'x'.repeat(99)}\n`
  return line.repeat(bytes / line.length)
}

export const pay: Call = { id: 'call_1', name: 'pay', args: { cents: 5 } }
export const wait: Call = { id: 'call_1', name: 'wait', args: {} }
