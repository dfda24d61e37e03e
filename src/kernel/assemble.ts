import type { SpooledArtifact } from './result/artifact.ts'
import { SessionGates } from './call/gates.ts'
import type { ToolLike } from './tool/definition.ts'
import { InvalidConfigurationError, SchemaConversionError, ToolAlreadyRegisteredError } from './errors.ts'
import { InFlight } from './call/in-flight.ts'
import { JournalLedger } from '../records/recorder.ts'
import { memoryStore } from '../spool/memory.ts'
import { NameOwners, SessionRegistry } from './tool/name-owners.ts'
import type { Extension, Kernel, Observer, Runner, Shelf } from './ports.ts'
import { registryOf, type ToolRegistry } from './tool/registry.ts'
import { Holding } from '../approvals/paused-calls.ts'
import { ArtifactShelf } from '../spool/shelf.ts'
import { isThenable, unawaited } from './json/thenable.ts'

export interface ExecutorOptions {
  /** The tools, or a registry of them, which may still grow. */
  readonly tools?: ToolRegistry | Iterable<ToolLike>
  /** What extends the executor, the first outermost and asked first. */
  readonly use?: readonly Extension[]
  /** How many calls of one turn run at a time. Default: 3. */
  readonly concurrency?: number
  /** What a call may take, in milliseconds; `0` or `Infinity` for no limit. Default: 30,000. */
  readonly timeout?: number
  /** Bytes of text and JSON up to which a result stays in the result object. Default: 16,384. */
  readonly inlineLimit?: number
  /** Bytes of UTF-8 that the args of a call may have. Default: 262,144. */
  readonly argsLimit?: number
  /** Whether models may read the words of what handlers throw; those of wrong args and denials they always may. Default: `true`. */
  readonly exposeErrors?: boolean
  /** Where faults go that belong to no call's result. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

const optionNames = 'tools use concurrency timeout inlineLimit argsLimit exposeErrors report'.split(' ')
const doors = 'policies approver middleware runners store journal observers tools onToolsChange guide close'.split(' ')

/** A kernel, and what only the executor needs of it. */
export interface Assembled {
  readonly kernel: Kernel
  /** The executor's own tools. */
  readonly registry: ToolRegistry
  readonly holding: Holding
  readonly ledger: JournalLedger | undefined
  readonly inFlight: InFlight
}

/**
 * Puts the doors of all extensions together.
 *
 * @param owner Names the executor in the records of its calls; asked for when the first is written.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown, an extension has no door, or two bring what there can
 * be only one of.
 */
export function assemble(options: ExecutorOptions, owner: () => string): Assembled {
  requireKnown(options)
  const extensions = options.use ?? []
  extensions.forEach(requireExtension)
  const report = guarded(options.report)
  const store = onlyOne(extensions, 'store') ?? memoryStore()
  const shelf = new ArtifactShelf(store)
  const registry = registryOf(options.tools ?? [])
  const registryFor = registriesOf(registry, extensions, shelf, report)
  const policies = extensions.flatMap((extension) => extension.policies ?? [])
  const approver = onlyOne(extensions, 'approver')
  const journal = onlyOne(extensions, 'journal')
  const ledger = journal === undefined ? undefined : new JournalLedger(journal, owner, report)
  const holding = new Holding(registryFor, ledger)
  const inFlight = new InFlight((id) => id.startsWith(owner()))
  const gates = new SessionGates(inFlight, report)
  const middleware = extensions.flatMap((extension) => extension.middleware ?? [])
  const runners = runnersOf(extensions)
  // These decide about every call, remember it, or hand it on.
  const isShared = policies.length + middleware.length + runners.size > 0 || (approver ?? journal) !== undefined
  const kernel: Kernel = {
    registryFor,
    policies,
    approver,
    middleware,
    runners,
    store,
    shelf,
    guide: (artifact) => guideOf(artifact, extensions, report),
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
    inlineLimit: amount(options, 'inlineLimit', 16_384),
    argsLimit: amount(options, 'argsLimit', 262_144),
    exposeErrors: options.exposeErrors ?? true,
    gates,
    ledger,
    hold: (received, pause) => holding.hold(received, pause),
    leave: (received) => inFlight.leave(received),
    report,
  }
  return { kernel, registry, holding, ledger, inFlight }
}

/** A report that cannot fail: it has nobody left to be told of that. */
function guarded(report: (error: unknown) => void = defaultReport): (error: unknown) => void {
  return (error) => {
    try {
      const done: unknown = report(error)
      if (isThenable(done)) void unawaited(done)
    } catch {
      // as said
    }
  }
}

/** Prints a fault: of a tool that is set aside one line, since its message says everything. */
function defaultReport(error: unknown): void {
  const isSetAside = error instanceof SchemaConversionError || error instanceof ToolAlreadyRegisteredError
  console.error(isSetAside ? `${error.code}: ${error.message}` : error) // oxlint-disable-line eslint/no-console -- the documented default
}

function registriesOf(
  registry: ToolRegistry,
  extensions: readonly Extension[],
  shelf: Shelf,
  report: (error: unknown) => void,
): (session: string) => ToolRegistry {
  const giving = extensions.filter((extension) => extension.tools !== undefined)
  if (giving.length === 0) return () => registry
  const owners = new NameOwners(registry, report)
  let last: { readonly given: readonly Given[]; readonly registry: ToolRegistry } | undefined
  return (session) => {
    const given = giving.map((extension, index) =>
      givenBy(extension, session, shelf, owners, report, last?.given[index]),
    )
    const isSame = last?.given.every((each, index) => each === given[index]) === true
    if (!isSame)
      last = {
        given,
        registry: registryWith(
          given.flatMap(({ own }) => own),
          owners,
          report,
        ),
      }
    return last?.registry ?? registry
  }
}

/** What an extension gives for a session, and those of the tools whose names are its own. */
interface Given {
  readonly tools: readonly ToolLike[]
  readonly own: readonly ToolLike[]
}

/** The tools of a session; where an extension cannot give them, the others stand. */
function givenBy(
  extension: Extension,
  session: string,
  shelf: Shelf,
  owners: NameOwners,
  report: (error: unknown) => void,
  former: Given | undefined,
): Given {
  try {
    const tools = extension.tools?.(session, shelf, (name) => owners.isTaken(name, extension)) ?? []
    return former?.tools === tools ? former : { tools, own: owners.claim(tools, extension) }
  } catch (error) {
    report(error)
    return { tools: [], own: [] }
  }
}

/** A registry over another; a tool that cannot be in it is set aside, and the others stand. */
function registryWith(tools: readonly ToolLike[], owners: NameOwners, report: (error: unknown) => void): ToolRegistry {
  const registry = new SessionRegistry(owners)
  for (const tool of tools) {
    try {
      registry.add(tool)
    } catch (error) {
      report(error)
    }
  }
  return registry
}

/** How to go on with an artifact, as far as the extensions know. */
function guideOf(
  artifact: SpooledArtifact,
  extensions: readonly Extension[],
  report: (error: unknown) => void,
): string {
  try {
    return extensions.flatMap((extension) => extension.guide?.(artifact) ?? []).join(' ')
  } catch (error) {
    report(error)
    return ''
  }
}

/** A number of an option, in the unit of the option. */
export function amount(options: ExecutorOptions, name: keyof ExecutorOptions, otherwise: number, least = 0): number {
  const value: unknown = options[name] ?? otherwise
  if (typeof value === 'number' && value >= least) return value
  throw new InvalidConfigurationError(
    `\`${name}\` must be a number of at least ${least}, got ${JSON.stringify(value) ?? typeof value}.`,
  )
}

function onlyOne<Door extends 'approver' | 'store' | 'journal'>(
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

/** Refuses options that nobody reads: a policy that is misspelt would guard nothing. */
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
  if (member === undefined || doors.some((door) => door in extension)) return
  throw new InvalidConfigurationError(
    `\`use[${index}]\` extends nothing: nobody reads its ${JSON.stringify(member)}. The doors of an extension are ${doors.join(', ')}.`,
  )
}
