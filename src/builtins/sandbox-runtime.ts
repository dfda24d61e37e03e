/**
 * A sandbox of the package `@anthropic-ai/sandbox-runtime`: Seatbelt on macOS, bubblewrap on Linux, and a proxy that lets commands
 * reach the domains that you name. Not run on macOS by our tests.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOptions, required, stringOption, type OptionCheck, type OptionChecks } from '../extension.ts'
import { Commands } from './_commands.ts'
import { directoryOf } from './_directory.ts'
import { protectedNames } from './_files.ts'
import { sandboxOver } from './_machine.ts'
import { listOfNames, variables } from './_options.ts'
import { DirectoryRoot } from './_root.ts'
import { environment, go, shellFor } from './_shell.ts'
import { filesystemFor, type Reach } from './sandbox-runtime/_filesystem.ts'
import { releaseRuntime, seccompProgram, takeRuntime, wrongRuntime, type Runtime } from './sandbox-runtime/_process.ts'
import type { Sandbox } from './sandbox.ts'
import { refusal } from './_words.ts'

/** The options of `sandboxRuntime`. */
export interface SandboxRuntimeOptions {
  /** The workspace: a directory that is there. Commands may write it. */
  readonly root: string
  /**
   * What commands may reach, by HTTP, HTTPS and SOCKS through a proxy: `example.com`, `*.example.com`, `example.com:443` or
   * an address. The sandboxes of a process that are open at once have the same list. Default: none.
   */
  readonly domains?: readonly string[]
  /** Absolute paths of the host that commands may read, at the same place. Default: none. */
  readonly readable?: readonly string[]
  /**
   * Added to the environment of commands, which has only `PATH`, `LANG`, `LC_*`, `TZ`, `TERM` and `HOME`, and what the
   * package adds for its proxy.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Names that are never written. Those that lie in the root when a command begins are read-only for it. */
  readonly protect?: readonly string[]
}

const wholePaths: OptionCheck = {
  expected: 'an array of absolute paths',
  accepts: (value) => Array.isArray(value) && value.every((path) => typeof path === 'string' && path.startsWith('/')),
}

const runtimeChecks: OptionChecks<SandboxRuntimeOptions> = {
  root: required(stringOption),
  domains: listOfNames,
  readable: wholePaths,
  env: variables,
  protect: listOfNames,
}

const trialTime = 20_000

/**
 * Makes a sandbox in which commands read the system and the workspace, write the workspace, and reach the domains that you name.
 * Tries it once before it is returned.
 *
 * On Linux commands see `/usr`, a few files of `/etc`, the root and what you name. On macOS homes, volumes and directories
 * for temporary files are hidden, and the rest of the system is readable. The file tools are those of `localSandbox`.
 *
 * @param options The workspace, and what commands may reach beyond it.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, the package or one of its programs is missing or does not work here, this
 * process is root or runs on Windows, or an open sandbox of this process has other domains.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { sandboxRuntime } from 'toolwright/builtins/sandbox-runtime'
 * import { shellTools, workspaceTools } from 'toolwright/builtins/tools'
 *
 * const sandbox = await sandboxRuntime({ root: '/Users/me/project', domains: ['registry.example.com'] })
 * const executor = createExecutor({ use: [workspaceTools(sandbox), shellTools(sandbox)] })
 * ```
 * @experimental
 */
export async function sandboxRuntime(options: SandboxRuntimeOptions): Promise<Sandbox> {
  checkOptions('sandboxRuntime', options, runtimeChecks)
  const { domains = [], readable = [], protect = protectedNames, env } = options
  requirePlatform()
  environment('/', env) // throws on a wrong name
  const isLinux = process.platform === 'linux'
  const seccomp = isLinux ? seccompProgram() : undefined
  const root = await DirectoryRoot.open(options.root)
  let runtime: Runtime
  try {
    runtime = await takeRuntime(domains)
  } catch (error) {
    await root.close()
    throw error
  }
  const temporary = await mkdtemp(join(await realpath(tmpdir()), 'toolwright-sandbox-'))
  const reach: Reach = { root: root.path, temporary, readable, protect, seccomp, network: domains.length > 0 }
  const commands = new Commands(async (command, exec) => {
    const cwd = await directoryOf(root, exec.cwd)
    const commandEnvironment = environment(root.path, { ...env, ...exec.env })
    return {
      // The last step: what it holds is given back when the program has ended.
      argv: shellFor(await wrappedCommand(runtime, reach, command, exec.signal)),
      cwd,
      env: commandEnvironment,
      go,
      hasInit: isLinux,
      onEnd: () => runtime.cleanupAfterCommand(),
    }
  })
  const close = async (): Promise<void> => {
    await commands.close()
    await root.close()
    // A command may have left a directory that cannot be opened.
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
    await releaseRuntime()
  }
  try {
    const { exitCode, stderr, timedOut } = await commands.exec('true', { timeout: trialTime })
    if (exitCode !== 0) throw new Error(timedOut ? 'it did not end in time' : stderr.text.trim().slice(0, 400))
  } catch (cause) {
    await close()
    throw wrongRuntime(`cannot run a command here: ${(cause as Error).message}`, cause)
  }
  let closing: Promise<void> | undefined
  return {
    name: 'sandbox-runtime',
    isolation: 'process',
    ...sandboxOver(root, commands, protect),
    close: () => (closing ??= close()),
  }
}

/** Returns a shell's command that runs a command in the sandbox. */
async function wrappedCommand(
  runtime: Runtime,
  reach: Reach,
  command: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  // The package names a directory that commands of all its users share, which is closed here.
  const script = `export TMPDIR=${shellWord(reach.temporary)}\n${command}`
  const filesystem = filesystemFor(reach, runtime)
  // By default, the command itself is the name of the user in the variables for proxies.
  const commandId = randomBytes(16).toString('base64url')
  try {
    const wrapped = await runtime.wrapWithSandbox(script, '/bin/bash', { filesystem }, signal, { commandId })
    // Who ends the group of bwrap ends the first process of the sandbox too, also while it is set up. It has no terminal either way.
    return wrapped.replace('bwrap --new-session ', 'bwrap ')
  } catch (error) {
    signal?.throwIfAborted()
    throw refusal(`The command was not started: ${(error as Error).message}`)
  }
}

/** Returns one word of a shell's command. */
function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function requirePlatform(): void {
  const { platform } = process
  if (platform !== 'linux' && platform !== 'darwin') {
    throw wrongRuntime(`needs Linux or macOS, and this is ${platform}: use a remote sandbox`)
  }
  if (process.getuid?.() === 0) {
    throw wrongRuntime(
      'does not run as root: a command of root can write settings of the kernel, which hold for the whole machine. Run this process as another user, or use `bubblewrap` with its `user`',
    )
  }
}
