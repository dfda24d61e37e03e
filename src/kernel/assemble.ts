import { abandon, isStream } from './run/stream.ts'
import type { ToolLike } from './tool/definition.ts'
import { InternalError, InvalidConfigurationError, type ToolError, ToolTimeoutError } from './errors.ts'
import { limited } from './call/deadline.ts'
import { Gates, InFlight } from './call/in-flight.ts'
import type { Received, Writable } from './call/parcel.ts'
import type { Extension, Observer, Runner } from './ports.ts'
import type { Kernel, Spool, SpoolOptions } from './kernel.ts'
import { reporterOf } from './reporter.ts'
import { registryOf, ToolRegistry } from './tool/registry.ts'
import { loadPart } from './json/thenable.ts'
import { registriesOf } from './tool/name-owners.ts'

export interface ExecutorOptions {
  /** The tools, or a registry that may still change. */
  readonly tools?: ToolRegistry | Iterable<ToolLike>
  /** The extensions. The first is outermost and asked first. */
  readonly use?: readonly Extension[]
  /** How many calls of one turn run at a time. Default: 3. */
  readonly concurrency?: number
  /** The time limit of a call in milliseconds; `0` or `Infinity` for none. Default: 30,000. */
  readonly timeout?: number
  /** How long a person has to answer if there is no `approver`, in milliseconds; `0` or `Infinity`: no limit. Default: 86,400,000. */
  readonly approvalTimeout?: number
  /** The largest result that stays in the result object, in bytes of text and JSON. Default: 16,384. */
  readonly inlineLimit?: number
  /** The largest args of a call, in bytes of UTF-8. Default: 262,144. */
  readonly argsLimit?: number
  /** Whether models read the messages of handlers' errors. They always read those of invalid args and denials. Default: `true`. */
  readonly exposeErrors?: boolean
  /** Takes faults that belong to no call's result. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** How long an extension may take to close, in milliseconds. */
const closingTime = 30_000
const optionNames = 'tools use concurrency timeout approvalTimeout inlineLimit argsLimit exposeErrors report'.split(' ')

type DoorCheck = readonly [expected: string, holds: (value: unknown) => boolean]
const isFunction = (value: unknown): boolean => typeof value === 'function'
const callable: DoorCheck = ['a function', isFunction]
const withMethods = (...names: string[]): DoorCheck => [
  `an object with ${names.map((name) => `\`${name}()\``).join(', ')}`,
  (value) => typeof value === 'object' && value !== null && names.every((name) => isFunction(value[name as never])),
]
const listOf = ([expected, holds]: DoorCheck): DoorCheck => [
  `an array, and each member ${expected}`,
  (value) => Array.isArray(value) && value.every(holds),
]
/** What each door of an extension takes. */
const parts: Readonly<Record<Exclude<keyof Extension, 'isGuest'>, DoorCheck>> = {
  policies: listOf(withMethods('decide')),
  approver: withMethods('ask'),
  middleware: listOf(callable),
  runners: listOf(withMethods('run')),
  store: withMethods('write', 'open', 'delete'),
  records: callable,
  observers: listOf(callable),
  elsewhere: callable,
  tools: callable,
  onToolsChange: callable,
  guide: callable,
  close: callable,
}
const doors = Object.keys(parts)

/** A kernel, and the parts that only the executor needs. */
export interface Assembled {
  readonly kernel: Kernel
  /** The executor's own tools. */
  readonly registry: ToolRegistry
}

/**
 * Combines all extensions into one kernel.
 *
 * @param owner Returns the executor's name in records. Called when the first record is written.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown, an extension has no door, or two extensions bring the
 * same single part.
 */
export function assemble(options: ExecutorOptions, owner: () => string): Assembled {
  requireKnown(options)
  const extensions = options.use ?? []
  extensions.forEach(requireExtension)
  const report = reporterOf(options.report)
  const store = onlyOne(extensions, 'store')
  const inlineLimit = amount(options, 'inlineLimit', 16_384)
  const spool = spoolOf({ store, extensions, inlineLimit, report })
  const registry = registryOf(options.tools ?? [])
  const registryFor = registriesOf(registry, extensions, spool.shelf, report)
  const policies = extensions.flatMap((extension) => extension.policies ?? [])
  const approver = onlyOne(extensions, 'approver')
  const records = onlyOne(extensions, 'records')
  const elsewhere = onlyOne(extensions, 'elsewhere')
  const inFlight = new InFlight((id) => id.startsWith(owner()))
  const gates = new Gates(inFlight, report)
  const middleware = extensions.flatMap((extension) => extension.middleware ?? [])
  const runners = runnersOf(extensions)
  // These may keep the args of a call, so each call needs a copy.
  const isShared = policies.length + middleware.length + runners.size > 0 || (approver ?? records) !== undefined
  const held = onDemand(() => import('#records').then(({ HeldCalls }) => (kernel.held = new HeldCalls(kernel))))
  const kernel: Writable<Kernel> = {
    registryFor,
    policies,
    approver,
    middleware,
    compose: onDemand(() => import('./run/middleware.ts').then(({ compose }) => compose)),
    runners,
    approvals: onDemand(() =>
      import('../approvals/paused-calls.ts').then(({ PausedCalls }) => new PausedCalls(kernel)),
    ),
    redaction: onDemand(() => import('../redaction/redactor.ts')),
    heldValues: new Map(),
    spool,
    elsewhere: undefined,
    watchers: new Set<Observer>(extensions.flatMap((extension) => extension.observers ?? [])),
    owns: ({ tool, slots, session }) =>
      isShared ||
      slots !== undefined ||
      tool.requiresConfirmation !== false ||
      tool.hooks !== undefined ||
      tool.middleware.length > 0 ||
      !tool.traits.concurrent ||
      gates.hasLine(session),
    timeout: amount(options, 'timeout', 30_000),
    approvalTimeout: amount(options, 'approvalTimeout', 86_400_000),
    inlineLimit,
    argsLimit: amount(options, 'argsLimit', 262_144),
    exposeErrors: options.exposeErrors ?? true,
    gates,
    recorder: undefined,
    pauses: () => kernel.recorder ?? held(),
    held: undefined,
    owner,
    inFlight,
    report,
  }
  kernel.recorder = records?.(kernel)
  kernel.elsewhere = elsewhere?.(kernel, store !== undefined)
  return { kernel, registry }
}

/**
 * Returns a part of the package that the first call which needs it loads. From then on it is there at once.
 *
 * @throws `E_INTERNAL`, retryable, if it cannot be loaded. The next call tries again.
 */
function onDemand<Part>(load: () => Promise<Part>): () => Part | Promise<Part> {
  let part: Part | Promise<Part> | undefined
  const tryAgain = (error: unknown): never => {
    part = undefined
    throw error
  }
  return () => (part ??= loadPart(load()).then((loaded) => (part = loaded), tryAgain))
}

/** Makes the spool, which is loaded by the first call that needs it. Nothing is on the shelf before. */
function spoolOf(options: SpoolOptions): Spool {
  let loaded: Spool | undefined
  const load = onDemand(() => import('../spool/spool.ts').then(({ openSpool }) => (loaded = openSpool(options))))
  return {
    store: options.store ?? {
      write: async (...source) => (await load()).store.write(...source),
      open: async (...handle) => (await load()).store.open(...handle),
      delete: async (handle) => (await load()).store.delete(handle),
    },
    shelf: {
      list: (session) => loaded?.shelf.list(session) ?? [],
      open: async (...handle) => (await load()).shelf.open(...handle),
    },
    async keep(output, call) {
      const spool =
        loaded ?? (await orClose(call.deadline.within(load()), output).catch((error: ToolError) => unkept(error, call)))
      return spool.keep(output, call)
    },
    async keepBeside(source, mediaType, call) {
      const spool = loaded ?? (await orClose(load(), source))
      return spool.keepBeside(source, mediaType, call)
    },
    openArtifacts: async (...call) => (await load()).openArtifacts(...call),
  }
}

/** Waits for what reads a stream. Closes the stream if that does not come. */
async function orClose<Reader>(reader: Reader | Promise<Reader>, source: unknown): Promise<Reader> {
  try {
    return await reader
  } catch (error) {
    if (isStream(source)) abandon(source)
    throw error
  }
}

function unkept(cause: ToolError, { effect }: Received): never {
  if (cause.code !== 'E_INTERNAL') throw cause
  const message = `The tool ran, but its result could not be kept: ${cause.message}`
  throw new InternalError(message, { cause, retryable: effect === 'none' })
}

/** Returns a numeric option or its default. */
export function amount(options: ExecutorOptions, name: keyof ExecutorOptions, otherwise: number, least = 0): number {
  const value: unknown = options[name] ?? otherwise
  if (typeof value === 'number' && value >= least) return value
  throw new InvalidConfigurationError(
    `\`${name}\` must be a number of at least ${least}, got ${JSON.stringify(value) ?? typeof value}.`,
  )
}

function onlyOne<Door extends 'approver' | 'store' | 'records' | 'elsewhere'>(
  extensions: readonly Extension[],
  door: Door,
): Extension[Door] | undefined {
  const bringing = extensions.filter((extension) => extension[door] !== undefined)
  if (bringing.length > 1) {
    throw new InvalidConfigurationError(
      `Two extensions bring a \`${door}\`, and there can be only one. Leave one out of \`use\`.`,
    )
  }
  return bringing[0]?.[door]
}

/** Closes the extensions. Throws the error of one that fails to close, or that takes too long. */
export async function closeExtensions(extensions: readonly Extension[]): Promise<void> {
  const late = (): ToolTimeoutError =>
    new ToolTimeoutError(`An extension did not close within ${closingTime.toLocaleString('en')} ms.`)
  const closing = extensions.map(async (extension) => limited(extension.close?.(), closingTime, late, () => {}))
  for (const outcome of await Promise.allSettled(closing)) if (outcome.status === 'rejected') throw outcome.reason
}

function runnersOf(extensions: readonly Extension[]): ReadonlyMap<string, Runner> {
  const runners = new Map<string, Runner>()
  for (const runner of extensions.flatMap((extension) => extension.runners ?? [])) {
    if (runners.has(runner.type)) {
      throw new InvalidConfigurationError(`Two extensions bring a runner for tools of type "${runner.type}".`)
    }
    runners.set(runner.type, runner)
  }
  return runners
}

/** Throws on unknown options, since a misspelt policy would protect nothing. */
function requireKnown(options: object): void {
  const stranger = Object.keys(options).find((name) => !optionNames.includes(name))
  if (stranger === undefined) return
  const next = doors.includes(stranger) ? ` Bring it with an extension, as in \`use: [{ ${stranger}: … }]\`.` : ''
  throw new InvalidConfigurationError(
    `createExecutor has no option ${JSON.stringify(stranger)}; its options are ${optionNames.join(', ')}.${next}`,
  )
}

function requireExtension(extension: unknown, index: number): void {
  if (typeof extension !== 'object' || extension === null || Array.isArray(extension)) {
    throw new InvalidConfigurationError(
      `\`use[${index}]\` is not an extension but ${typeof extension}. Call the leaf's factory, as in \`use: [fileStore(directory)]\`.`,
    )
  }
  const [member] = Object.keys(extension)
  if (member === undefined || doors.some((door) => door in extension)) return requireParts(extension, index)
  throw new InvalidConfigurationError(
    `\`use[${index}]\` extends nothing: an extension has no ${JSON.stringify(member)}. The doors of an extension are ${doors.join(', ')}.`,
  )
}

/** Checks what each door of an extension holds, so that no call is the first to find it. */
function requireParts(extension: Extension, index: number): void {
  for (const [door, [expected, holds]] of Object.entries(parts)) {
    const value = extension[door as keyof Extension]
    if (value === undefined || holds(value)) continue
    throw new InvalidConfigurationError(`\`use[${index}].${door}\` must be ${expected}.`)
  }
}
