import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { causesOf } from '../extension.ts'
import type { Host } from './host.ts'
import { thrownMessage } from './host.ts'

/** An error that the user can correct: printed on one line, with exit code 2. */
export class UsageError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** Returns what says that a port is taken, with the option that gives another, or the error if it says something else. */
export function unlessTaken(error: unknown, port: number, option: string): unknown {
  return causesOf(error).some(({ code }) => code === 'EADDRINUSE')
    ? new UsageError(`Port ${port} is taken. Give another one with --${option}, or 0 for any.`)
    : error
}

/** One command of `toolwright`. */
export interface Command {
  readonly name: string
  /** What `--help` prints. */
  readonly help: string
  readonly options: ParseArgsOptionsConfig
  /** The minimum and maximum number of positional arguments. */
  readonly takes: readonly [number, number]
  /** Runs the command. Returns the exit code. */
  perform(commandLine: CommandLine, host: Host): Promise<number>
}

/** The parsed command line. */
export interface CommandLine {
  readonly positionals: readonly string[]
  text(option: string): string | undefined
  /** Returns every value of an option that may come several times. */
  texts(option: string): readonly string[]
  flag(option: string): boolean
  /** Returns an option as a whole number. Throws a UsageError if it is not one, or less than `least`. */
  count(option: string, least: number): number | undefined
}

/**
 * Parses the command line of a command.
 *
 * @throws {UsageError} if an option is unknown or wrong, or there are too few or too many arguments.
 */
export function commandLine(command: Command, words: readonly string[]): CommandLine {
  const { positionals, values } = parsedWords(command, words)
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
    texts(option) {
      const value = values[option]
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
    },
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

function parsedWords(command: Command, words: readonly string[]): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args: [...words], options: command.options, allowPositionals: true, strict: true })
  } catch (error) {
    // Only the first sentence of Node's message describes the fault.
    const [what = ''] = thrownMessage(error)
      .replace(/^TypeError: /, '')
      .split(/\.?(?:\s*\n| (?=To specify)|$)/)
    throw new UsageError(`${what}. ${usageOf(command)}`)
  }
}

function usageOf({ name, help }: Command): string {
  return `${help.split('\n', 1)[0]}. See toolwright ${name} --help.`
}
