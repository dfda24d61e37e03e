import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { InvalidConfigurationError } from '../../errors.ts'

export type Runtime = (typeof import('@anthropic-ai/sandbox-runtime'))['SandboxManager']
export type FilesystemConfig = import('@anthropic-ai/sandbox-runtime').FilesystemConfig

/** What the sandboxes of this process share, since the package keeps one configuration for a process. */
interface SharedRuntime {
  readonly domains: string
  readonly runtime: Promise<Runtime>
  holders: number
}

let shared: SharedRuntime | undefined
/** Resolves once the last configuration has been taken back. */
let lastReset: Promise<void> = Promise.resolve()

/**
 * Returns the runtime of this process with a list of domains. Each holder gives it back by `releaseRuntime`.
 *
 * @throws `E_INVALID_CONFIGURATION` if the package is missing or cannot work here, or this process has another list in use.
 */
export async function takeRuntime(domains: readonly string[]): Promise<Runtime> {
  const list = JSON.stringify([...new Set(domains)].toSorted())
  if (shared !== undefined && shared.domains !== list) {
    throw wrongRuntime(
      `has one list of domains in a process, and ${shared.domains} is in use: close the sandboxes that use it first, give all of them the same \`domains\`, or make this one in another process`,
    )
  }
  const held = (shared ??= { domains: list, runtime: lastReset.then(() => initializedRuntime(domains)), holders: 0 })
  held.holders++
  try {
    return await held.runtime
  } catch (error) {
    if (--held.holders === 0 && shared === held) shared = undefined
    throw error
  }
}

/** Gives the runtime back. The last one ends its proxies. */
export async function releaseRuntime(): Promise<void> {
  const held = shared
  if (held === undefined || --held.holders > 0) return
  shared = undefined
  lastReset = held.runtime.then((runtime) => runtime.reset()).catch(() => {}) // it takes back what it can
  await lastReset
}

async function initializedRuntime(domains: readonly string[]): Promise<Runtime> {
  const { SandboxManager: runtime, SandboxRuntimeConfigSchema } = await loadPackage().catch((cause: unknown) => {
    throw missingPackage(cause)
  })
  // The configuration stays after its `reset()`; the proxies do not.
  if (runtime.getProxyPort() !== undefined) {
    throw wrongRuntime(
      'needs the package @anthropic-ai/sandbox-runtime for itself, and this process has configured it already: call its `reset()` first, or make the sandbox in another process',
    )
  }
  const { errors } = runtime.checkDependencies()
  if (errors.length > 0) {
    throw wrongRuntime(`cannot work here: ${errors.join('; ')}. On Debian: apt-get install bubblewrap socat ripgrep`)
  }
  const configuration = {
    network: {
      allowedDomains: [...domains],
      deniedDomains: [],
      strictAllowlist: true,
      // A proxy of the host would resolve names by itself, past the check of addresses.
      parentProxy: {},
    },
    // Each command brings its own.
    filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
    // Names in deeper directories are not protected by other sandboxes either.
    mandatoryDenySearchDepth: 1,
  }
  const { error } = SandboxRuntimeConfigSchema.safeParse(configuration)
  if (error !== undefined) {
    const reasons = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw wrongRuntime(`has wrong domains: ${reasons.join('; ')}`)
  }
  try {
    await runtime.initialize(configuration)
  } catch (cause) {
    await runtime.reset()
    throw wrongRuntime(`cannot begin: ${(cause as Error).message}`, cause)
  }
  return runtime
}

function loadPackage(): Promise<typeof import('@anthropic-ai/sandbox-runtime')> {
  return import('@anthropic-ai/sandbox-runtime')
}

/** Returns the program of the package that closes sockets of the file system, on Linux. */
export function seccompProgram(): string {
  const program = join(packageFolder(), 'vendor', 'seccomp', process.arch, 'apply-seccomp')
  try {
    accessSync(program, constants.X_OK)
    return program
  } catch (cause) {
    throw wrongRuntime(`needs ${program}, which its package has not for ${process.arch}`, cause)
  }
}

function packageFolder(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime')), '..')
  } catch (cause) {
    throw missingPackage(cause)
  }
}

function missingPackage(cause: unknown): InvalidConfigurationError {
  const name = '@anthropic-ai/sandbox-runtime'
  return wrongRuntime(`needs the package ${name} (npm install ${name})`, cause)
}

export function wrongRuntime(message: string, cause?: unknown): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`sandboxRuntime\` ${message}.`, { cause })
}
