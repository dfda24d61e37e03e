import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { Host } from './host.ts'
import { wordsOf } from './host.ts'

/** Something that the person at the keyboard can put right: told in one line, exit code 2. */
export class UsageError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** One word after `toolwright`. */
export interface Command {
  readonly name: string
  /** What `--help` prints. */
  readonly help: string
  readonly options: ParseArgsOptionsConfig
  /** How many positional arguments there are at least and at most. */
  readonly takes: readonly [number, number]
  /** Does the work, and gives the exit code. */
  perform(given: Given, host: Host): Promise<number>
}

/** What was given on the command line. */
export interface Given {
  readonly positionals: readonly string[]
  text(option: string): string | undefined
  flag(option: string): boolean
  /** A whole number. */
  count(option: string, least: number): number | undefined
}

/**
 * Reads what was given to a command.
 *
 * @throws {UsageError} Where an option is unknown or wrong, or there are too few or too many arguments.
 */
export function given(command: Command, words: readonly string[]): Given {
  const { positionals, values } = parsed(command, words)
  const [fewest, most] = command.takes
  if (positionals.length < fewest || positionals.length > most) {
    const what =
      positionals.length < fewest ? 'Something is missing' : `"${positionals[most]}" is one argument too many`
    throw new UsageError(`${what}. ${usageOf(command)}`)
  }
  const text = (option: string): string | undefined => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  return {
    positionals,
    text,
    flag: (option) => values[option] === true,
    count(option, least) {
      const value = text(option)
      if (value === undefined) return undefined
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= least) return number
      throw new UsageError(`--${option} takes a whole number of at least ${least}, got "${value}".`)
    },
  }
}

function parsed(command: Command, words: readonly string[]): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args: [...words], options: command.options, allowPositionals: true, strict: true })
  } catch (error) {
    // The first sentence says what is wrong.
    const [what = ''] = wordsOf(error)
      .replace(/^TypeError: /, '')
      .split(/\.?(?:\s*\n| (?=To specify)|$)/)
    throw new UsageError(`${what}. ${usageOf(command)}`)
  }
}

function usageOf({ name, help }: Command): string {
  return `${help.split('\n', 1)[0]}. See toolwright ${name} --help.`
}
