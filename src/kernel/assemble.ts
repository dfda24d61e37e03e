import { valueKind } from './json/value-kind.ts'
import type { ToolLike } from './tool/definition.ts'
import { InvalidConfigurationError, ToolTimeoutError } from './errors.ts'
import { limited } from './call/limited.ts'
import { earlierCalls } from './calls.ts'
import { InFlight } from './call/in-flight.ts'
import { optionsOf } from './call/options.ts'
import { Locks } from './call/locks.ts'
import type { Confirmed, Writable } from './call/parcel.ts'
import type { EarlierCalls, Extension, Runner } from './ports.ts'
import type { Observer } from './call/events.ts'
import type { WaitKeeper } from './recorder.ts'
import { redactIssues, redactorOf } from '../redaction/redactor.ts'
import { openSpool } from '../spool/spool.ts'
import type { Kernel } from './kernel.ts'
import { reporterOf } from './reporter.ts'
import { isObject } from './schema/json-schema.ts'
import { isFunction } from './tool/checks.ts'
import { registryOf, ToolRegistry } from './tool/registry.ts'
import { whenLoaded } from './json/thenable.ts'
import { registriesOf } from './tool/name-owners.ts'

/** The options of `createExecutor`. */
export interface ExecutorOptions {
  /** The tools, or a registry that may still change. */
  readonly tools?: ToolRegistry | Iterable<ToolLike>
  /** The extensions. The first is outermost and asked first. */
  readonly use?: readonly Extension[]
  /** How many calls of one turn run at a time. Default: 3. */
  readonly concurrency?: number
  /** The time limit of a call in milliseconds; `0` or `Infinity` for none. Default: 30,000. */
  readonly timeout?: number
  /**
   * How long what a call waits for may stand still before the call is `timed_out`, such as a call that holds what it touches, in
   * milliseconds; `0` or `Infinity`: no limit. Default: 60,000.
   */
  readonly waitTimeout?: number
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
const optionNames =
  'tools, use, concurrency, timeout, waitTimeout, approvalTimeout, inlineLimit, argsLimit, exposeErrors, report'

type PointCheck = readonly [expected: string, holds: (value: unknown) => boolean]
const callable: PointCheck = ['a function', isFunction]
const withMethods = (...names: string[]): PointCheck => [
  `an object with \`${names.join('()`, `')}()\``,
  (value) => isObject(value) && names.every((name) => isFunction(value[name as never])),
]
const listPoint = ([expected, holds]: PointCheck): PointCheck => [
  `an array, and each member ${expected}`,
  (value) => Array.isArray(value) && value.every(holds),
]
/** What each extension point takes. */
const parts: Readonly<Record<Exclude<keyof Extension, 'isGuest'>, PointCheck>> = {
  policies: listPoint(withMethods('decide')),
  approver: withMethods('ask'),
  middleware: listPoint(callable),
  gates: listPoint(withMethods('enter')),
  repair: callable,
  runners: listPoint(withMethods('run')),
  store: withMethods('write', 'open', 'delete'),
  records: callable,
  observers: listPoint(callable),
  elsewhere: callable,
  tools: callable,
  offers: callable,
  onToolsChange: callable,
  guide: callable,
  close: callable,
}
const points = Object.keys(parts)

/** A kernel, and the parts that only the executor needs. */
export interface Assembled {
  readonly kernel: Kernel
  /** The executor's own tools. */
  readonly registry: ToolRegistry
}

/**
 * Combines all extensions into one kernel.
 *
 * @param owner Returns the executor's name in records, for the first record.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown, an extension has no extension point, or two bring the same single part.
 */
export function assemble(options: ExecutorOptions, owner: () => string): Assembled {
  optionsOf('createExecutor', options, optionNames, ' Extensions go into `use: [{ policies: … }]`.')
  const extensions = options.use ?? []
  if (!Array.isArray(extensions)) throw new InvalidConfigurationError('`use` must be an array of extensions.')
  extensions.forEach(requireExtension)
  const report = reporterOf(options.report)
  const store = onlyOne(extensions, 'store')
  const inlineLimit = amount(options, 'inlineLimit', 16_384)
  const spool = openSpool({ store, extensions, inlineLimit, loadOnDemand, report })
  const registry = registryOf(options.tools ?? [])
  const registryFor = registriesOf(registry, extensions, spool.shelf, report)
  const policies = extensions.flatMap((extension) => extension.policies ?? [])
  const repair = onlyOne(extensions, 'repair')
  const approver = onlyOne(extensions, 'approver')
  const records = onlyOne(extensions, 'records')
  const elsewhere = onlyOne(extensions, 'elsewhere')
  const inFlight = new InFlight((id) => id.startsWith(owner()))
  const waitTimeout = amount(options, 'waitTimeout', 60_000)
  const locks = new Locks(inFlight, waitTimeout, report)
  const middleware = extensions.flatMap((extension) => extension.middleware ?? [])
  const gates = extensions.flatMap((extension) => extension.gates ?? [])
  const runners = runnersOf(extensions)
  // These may keep the args of a call, so each needs a copy.
  const isShared =
    policies.length + middleware.length + gates.length + runners.size > 0 || (approver ?? records) !== undefined
  const kernel: Writable<Kernel> = {
    registryFor,
    policies,
    repairArgs:
      repair &&
      (async (...refused) => {
        const { repairArgs } = await refused[0].deadline.outside(loadOnDemand())
        return repairArgs(repair, ...refused)
      }),
    approver,
    middleware,
    gates,
    passGates: (call) =>
      kernel.gatekeeper === undefined ? loadGates(call, kernel) : kernel.gatekeeper.passGates(call, kernel),
    gatekeeper: undefined,
    earlierCalls: {} as EarlierCalls,
    runners,
    approve: async (call, ask, context) => {
      const { approve } = await call.deadline.outside(loadOnDemand())
      return approve(call, ask, context)
    },
    findOut: async (earlier) => (await loadOnDemand()).findOut(earlier, kernel),
    redaction: { redactorOf, redactIssues },
    waitingValues: new Map(),
    spool,
    elsewhere: undefined,
    watchers: new Set<Observer>(extensions.flatMap((extension) => extension.observers ?? [])),
    owns: ({ tool, slots, session }) =>
      isShared ||
      slots !== undefined ||
      tool.requiresConfirmation !== false ||
      tool.hooks !== undefined ||
      tool.middleware.length > 0 ||
      tool.conflicts !== undefined ||
      !tool.traits.concurrent ||
      locks.isContended(session),
    timeout: amount(options, 'timeout', 30_000),
    waitTimeout,
    approvalTimeout: amount(options, 'approvalTimeout', 86_400_000),
    inlineLimit,
    argsLimit: amount(options, 'argsLimit', 262_144),
    exposeErrors: options.exposeErrors ?? true,
    locks,
    recorder: undefined,
    waits: () => kernel.recorder ?? kernel.unrecorded ?? loadUnrecorded(kernel),
    unrecorded: undefined,
    owner,
    inFlight,
    hasStore: store !== undefined,
    report,
  }
  kernel.recorder = records?.(kernel)
  kernel.earlierCalls = earlierCalls(kernel)
  kernel.elsewhere = elsewhere?.(kernel)
  return { kernel, registry }
}

/** Loads what most programs never need. */
export function loadOnDemand(): Promise<typeof import('#on-demand')> {
  return whenLoaded(import('#on-demand'))
}

async function loadGates(call: Confirmed, kernel: Writable<Kernel>): Promise<void> {
  const gatekeeper = await call.deadline.outside(loadOnDemand())
  kernel.gatekeeper = gatekeeper
  return gatekeeper.passGates(call, kernel)
}

async function loadUnrecorded(kernel: Writable<Kernel>): Promise<WaitKeeper> {
  const { UnrecordedCalls } = await loadOnDemand()
  return (kernel.unrecorded ??= new UnrecordedCalls(kernel))
}

export function amount(options: ExecutorOptions, name: keyof ExecutorOptions, otherwise: number, least = 0): number {
  const value: unknown = options[name] ?? otherwise
  if (typeof value === 'number' && value >= least) return value
  throw new InvalidConfigurationError(
    `\`${name}\` must be a number of at least ${least}, got ${JSON.stringify(value) ?? typeof value}.`,
  )
}

function onlyOne<Point extends 'approver' | 'repair' | 'store' | 'records' | 'elsewhere'>(
  extensions: readonly Extension[],
  point: Point,
): Extension[Point] | undefined {
  const [only, other] = extensions.map((extension) => extension[point]).filter((part) => part !== undefined)
  if (other !== undefined) {
    throw new InvalidConfigurationError(`Two extensions bring a \`${point}\`: leave one out of \`use\`.`)
  }
  return only
}

/** Closes the extensions. Throws the error of one that fails to, or takes too long. */
export async function closeExtensions(extensions: readonly Extension[]): Promise<void> {
  const late = (): ToolTimeoutError =>
    new ToolTimeoutError(`An extension did not close within ${closingTime / 1_000} s.`)
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

function requireExtension(extension: unknown, index: number): void {
  if (!isObject(extension) || 'then' in extension) {
    const kind = isObject(extension) ? 'a promise: await it' : `${valueKind(extension)}: call its factory`
    throw new InvalidConfigurationError(`\`use[${index}]\` is not an extension but ${kind}.`)
  }
  const [member] = Object.keys(extension)
  if (member === undefined || points.some((point) => point in extension)) return requireParts(extension, index)
  throw new InvalidConfigurationError(
    `\`use[${index}]\` extends nothing: an extension has no ${JSON.stringify(member)}. The extension points are ${points.join(', ')}.`,
  )
}

/** Checks what each point holds, so that no call is the first to find it. */
function requireParts(extension: Extension, index: number): void {
  for (const [point, [expected, holds]] of Object.entries(parts)) {
    const value = extension[point as keyof Extension]
    if (value === undefined || holds(value)) continue
    throw new InvalidConfigurationError(`\`use[${index}].${point}\` must be ${expected}.`)
  }
}
