/**
 * A sandbox of Linux namespaces, with the program `bwrap`. Commands see the workspace, `/usr` and little more; they have no
 * network, no secrets of the host, and do not outlive it. It never falls back to less.
 *
 * @module
 */
import { accessSync, constants, statSync } from 'node:fs'
import { InvalidConfigurationError } from '../errors.ts'
import {
  booleanOption,
  checkOptions,
  integerFrom,
  required,
  stringOption,
  type OptionCheck,
  type OptionChecks,
} from '../extension.ts'
import {
  bwrapArguments,
  firstArgument,
  holdProtected,
  librariesIn,
  listLibraries,
  ripgrepInside,
  searchArguments,
  ulimits,
  type BubblewrapLimits,
  type Walls,
} from './_bwrap-arguments.ts'
import { Commands } from './_commands.ts'
import { directoryOf } from './_directory.ts'
import { protectedNames } from './_files.ts'
import { sandboxOver } from './_machine.ts'
import { listOfNames, variables } from './_options.ts'
import { searchWith } from './_ripgrep.ts'
import { DirectoryRoot } from './_root.ts'
import { seccompFilter } from './_seccomp.ts'
import { environment, firstShellFor, type Program } from './_shell.ts'
import type { ExecOptions, Match, Sandbox, SearchQuery } from './sandbox.ts'
import { startOf } from './_walk.ts'

export type { BubblewrapLimits } from './_bwrap-arguments.ts'

/** The options of `bubblewrap`. */
export interface BubblewrapOptions {
  /** The workspace: a directory that is there. Commands may write it. */
  readonly root: string
  /** Whether commands have the network of the host. Default: `false`. */
  readonly network?: boolean
  /** Absolute paths of the host that commands may read, at the same place. Default: none. */
  readonly readable?: readonly string[]
  /** Absolute paths of the host that commands may write, at the same place. Default: none. */
  readonly writable?: readonly string[]
  /** Added to the environment of commands, which has only `PATH`, `LANG`, `LC_*`, `TZ`, `TERM` and `HOME`. */
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: BubblewrapLimits
  /** Names that are never written. Those that lie in the root when a command begins are read-only for it. */
  readonly protect?: readonly string[]
  /** Who runs the commands, if this process is root. The root has to belong to that user. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Lets root run commands as root. A command can then leave programs that give root's rights to others. Default: `false`. */
  readonly allowRoot?: boolean
  /** Whether commands may open sockets of the file system. Default: `false`. */
  readonly unixSockets?: boolean
  /** The program. Default: `bwrap` in `/usr/bin`, `/usr/local/bin` or `/bin`. */
  readonly program?: string
  /** A ripgrep to search with, such as `rgPath` of `@vscode/ripgrep`. Default: `rg` below `/usr`, if it is there. */
  readonly ripgrep?: string
}

const absolutePaths: OptionCheck = {
  expected: 'an array of absolute paths',
  accepts: (value) => Array.isArray(value) && value.every((path) => typeof path === 'string' && path.startsWith('/')),
}

const bubblewrapChecks: OptionChecks<BubblewrapOptions> = {
  root: required(stringOption),
  network: booleanOption,
  readable: absolutePaths,
  writable: absolutePaths,
  env: variables,
  limits: { expected: 'an object of limits', accepts: (value) => typeof value === 'object' && value !== null },
  protect: listOfNames,
  user: { expected: 'the numbers of a user other than root', accepts: isUser },
  allowRoot: booleanOption,
  unixSockets: booleanOption,
  program: stringOption,
  ripgrep: stringOption,
}

const sandboxLimitChecks: OptionChecks<BubblewrapLimits> = {
  processes: integerFrom(1),
  memoryBytes: integerFrom(1),
  fileBytes: integerFrom(1),
  cpuSeconds: integerFrom(1),
}

const probeTime = 20_000

/**
 * Makes a sandbox in which commands run in namespaces of their own. Tries it once before it is returned.
 *
 * @param options The workspace, what commands may reach beyond it, and how much they may use.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, `bwrap` is missing or does not work here, or this process is root and
 * neither `user` nor `allowRoot` is given.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { bubblewrap } from 'toolwright/builtins/bubblewrap'
 * import { shellTools, workspaceTools } from 'toolwright/builtins/tools'
 *
 * const sandbox = await bubblewrap({ root: '/srv/workspaces/42', user: { uid: 1500, gid: 1500 } })
 * const executor = createExecutor({ use: [workspaceTools(sandbox), shellTools(sandbox)] })
 * ```
 * @experimental
 */
export async function bubblewrap(options: BubblewrapOptions): Promise<Sandbox> {
  checkOptions('bubblewrap', options, bubblewrapChecks)
  checkOptions('bubblewrap.limits', options.limits ?? {}, sandboxLimitChecks)
  const {
    network = false,
    readable = [],
    writable = [],
    protect = protectedNames,
    unixSockets = false,
    limits = {},
  } = options
  const { user } = options
  const program = options.program ?? firstExecutable(['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'])
  if (program === undefined) throw wrongBubblewrap('needs the program bwrap: install the package bubblewrap')
  const filter = seccompFilter(unixSockets)
  requireOwner(options)
  const root = await DirectoryRoot.open(options.root, { owner: user })
  const walls: Walls = {
    root: root.path,
    network,
    readable,
    writable,
    protect,
    ripgrep: options.ripgrep,
  }
  const ripgrep = options.ripgrep ?? firstExecutable(['/usr/bin/rg', '/usr/local/bin/rg'])

  function programOf(args: readonly string[], env?: Readonly<Record<string, string>>): Program {
    return {
      argv: [program ?? '', ...args],
      cwd: '/',
      // All of it: the first process of the sandbox shows the environment of bwrap.
      env: environment(root.path, { ...options.env, ...env }),
      user,
      go: firstArgument,
      filter,
      hasInit: true,
    }
  }

  const commands = new Commands(async (command, exec) => {
    const directory = await directoryOf(root, exec.cwd)
    const empty = programOf([], exec.env) // throws on a wrong name, before anything is held
    const held = holdProtected(walls)
    const paths = held.map(({ path }) => path)
    const args = [...bwrapArguments(walls, directory, held), ...firstShellFor(command, ulimits(limits), paths)]
    return { ...empty, argv: [empty.argv[0], ...args], held: held.map(({ descriptor }) => descriptor) }
  })
  let libraries: readonly string[] = []
  try {
    const tried = listLibraries(options.ripgrep === undefined ? ripgrep : ripgrepInside)
    const probe = programOf([...bwrapArguments(walls, root.path), ...firstShellFor(tried, ulimits(limits))])
    const { exitCode, stdout, stderr, timedOut } = await commands.run(probe, { timeout: probeTime })
    if (exitCode !== 0) throw new Error(timedOut ? 'it did not end in time' : failureReason(stderr.text))
    libraries = librariesIn(stdout.text)
  } catch (cause) {
    await commands.close()
    await root.close()
    throw wrongBubblewrap(`cannot run bwrap here: ${(cause as Error).message}`, cause)
  }

  const run = (args: readonly string[], exec: ExecOptions): ReturnType<Sandbox['exec']> =>
    commands.run(programOf([...searchArguments(root.path, ripgrep ?? '', libraries), ...args]), exec)
  const canSearch = ripgrep !== undefined && (await run(['--version'], { timeout: probeTime })).exitCode === 0
  return {
    name: 'bubblewrap',
    isolation: 'process',
    ...sandboxOver(root, commands, protect),
    ...(canSearch && {
      // What leads out is refused here; what leads out by then leads nowhere.
      search: async function* (query: SearchQuery): AsyncGenerator<Match, void, undefined> {
        yield* searchWith(run, { ...query, path: await startOf(root, query.path) })
      },
    }),
  }
}

function isUser(value: unknown): boolean {
  const { uid, gid } = (value ?? {}) as { readonly uid?: unknown; readonly gid?: unknown }
  return [uid, gid].every((id) => Number.isSafeInteger(id) && (id as number) > 0)
}

/** A command that runs as root can make a program in the workspace that gives root's rights to whom the host lets run it. */
function requireOwner({ root, user, allowRoot = false }: BubblewrapOptions): void {
  const own = process.getuid?.()
  if (own === 0 && user === undefined && !allowRoot) {
    throw wrongBubblewrap('does not run commands as root: give it `user`, to whom the workspace belongs')
  }
  if (user === undefined) return
  if (own !== 0 && user.uid !== own)
    throw wrongBubblewrap('can run commands as another user only if this process is root')
  const uid = statSync(root, { throwIfNoEntry: false })?.uid
  if (uid !== undefined && uid !== user.uid) {
    throw wrongBubblewrap(
      `needs a root that belongs to its user: ${root} belongs to ${uid}, and the user is ${user.uid}`,
    )
  }
}

function failureReason(text: string): string {
  const output = text.trim().slice(0, 400)
  const isRefused = /namespace|uid map|Operation not permitted|Permission denied/i.test(output)
  return isRefused
    ? `${output}. It needs user namespaces: see the sysctls user.max_user_namespaces and kernel.unprivileged_userns_clone, and AppArmor's kernel.apparmor_restrict_unprivileged_userns; the user has to reach the root`
    : output || 'it failed without a word'
}

function firstExecutable(paths: readonly string[]): string | undefined {
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function wrongBubblewrap(message: string, cause?: unknown): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`bubblewrap\` ${message}.`, { cause })
}
