/**
 * The sandbox of this machine as it is. File tools stay within the workspace; commands do not: they run as this process
 * does, and nothing holds them. Use it for models and texts that are trusted, or with a person who approves each command.
 * It runs on Linux, macOS and Windows, and holds least on Windows.
 *
 * @module
 */
import { checkOptions, functionOption, oneOf, reporterOf, required, stringOption } from '../extension.ts'
import { Commands } from './_commands.ts'
import { listOfNames, variables } from './_options.ts'
import { protectedNames } from './_files.ts'
import { sandboxOver } from './_machine.ts'
import { DirectoryRoot } from './_root.ts'
import { environment, go, requireProcessGroups, shellFor } from './_shell.ts'
import { directoryOf } from './_directory.ts'
import type { Sandbox } from './sandbox.ts'

/** The options of `localSandbox`. */
export interface LocalSandboxOptions {
  /** The workspace: a directory that is there. */
  readonly root: string
  /**
   * How the paths of file tools are kept within the root. Default: `descriptor` on Linux, the one platform that has it; `real-path`
   * elsewhere.
   *
   * - `descriptor` opens each step of a path from the step before. What another process swaps meanwhile cannot lead out.
   * - `real-path` looks at each step, compares its real path, and compares what it opened. **It promises nothing about races:** a process
   *   that swaps a directory for a link between the look and the use can lead a read or a write out of the root.
   */
  readonly paths?: 'descriptor' | 'real-path'
  /** Names that are never written. Default: `.git`, `.envrc`, files of shells and of editors, `.mcp.json` and others. */
  readonly protect?: readonly string[]
  /** Added to the environment of commands, which has only `PATH`, `LANG`, `LC_*`, `TZ`, `TERM` and `HOME`. */
  readonly env?: Readonly<Record<string, string>>
  /** Is told once that commands are not isolated. Default: `console.error`. */
  readonly report?: (message: string) => void
}

/**
 * Makes a sandbox of a directory on this machine, without isolation.
 *
 * What a file tool touches is held within the root: on Linux by descriptors, on macOS and Windows by a comparison of real paths
 * that holds as long as no other process swaps parts of a path meanwhile. A command may leave its process group,
 * read the environment of this process through `/proc`, end it, and write outside the root: it has the rights of this process.
 * On Windows commands are refused.
 *
 * @param options The workspace, and what commands find in their environment.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or `paths` is `descriptor` and this is not Linux with `/proc`.
 * @example
 * ```ts
 * import { localSandbox } from 'toolwright/builtins/local'
 *
 * const sandbox = await localSandbox({ root: '.', report: () => {} })
 * const { stdout, exitCode } = await sandbox.exec('echo hello')
 * console.log(exitCode, stdout.text)
 * await sandbox.close()
 * ```
 * @experimental
 */
export async function localSandbox(options: LocalSandboxOptions): Promise<Sandbox> {
  checkOptions('localSandbox', options, {
    root: required(stringOption),
    paths: oneOf('descriptor', 'real-path'),
    protect: listOfNames,
    env: variables,
    report: functionOption,
  })
  const { protect = protectedNames, env } = options
  environment('/', env) // throws on a wrong name
  const root = await DirectoryRoot.open(options.root, options.paths === undefined ? {} : { paths: options.paths })
  const commands = new Commands(async (command, exec) => {
    requireProcessGroups()
    return {
      argv: shellFor(command),
      cwd: await directoryOf(root, exec.cwd),
      env: environment(root.path, { ...env, ...exec.env }),
      go,
    }
  })
  const races =
    root.paths === 'real-path'
      ? ' Its file tools compare real paths: another process that swaps parts of a path meanwhile can lead them out.'
      : ''
  reporterOf(options.report)(
    `The commands of ${root.path} run without isolation, with the rights of this process. Use the sandbox of toolwright/builtins/bubblewrap for commands that are not trusted.${races}`,
  )
  return {
    name: 'local',
    isolation: 'none',
    ...sandboxOver(root, commands, protect),
  }
}
