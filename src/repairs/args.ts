/**
 * Repairs args that a model has almost written right, such as `"5"` for `5`. It touches nothing that a schema takes, guesses nothing,
 * and completes no text that was cut off.
 *
 * @module
 */
import { parseJson, type Extension, type ToolDefinition } from '../index.ts'
import {
  checkOptions,
  functionOption,
  optionsError,
  type RefusedArgs,
  type Repair,
  type RepairedArgs,
} from '../extension.ts'
import type { RepairStep } from '../extension.ts'
import { repairText } from './_text.ts'
import { typesAt, type JsonTypes } from './_types.ts'

const argsSteps = ['double-encoded', 'fence', 'trailing-comma', 'number-from-text', 'boolean-from-text'] as const

/** The name of a repair. */
export type ArgsStep = (typeof argsSteps)[number]

/** The options of `argsRepair`. */
export interface ArgsRepairOptions {
  /** The repairs to try. Default: all. */
  readonly steps?: readonly ArgsStep[]
  /** Returns whether the args of a tool may be repaired. Default: those of all tools. */
  readonly tools?: (tool: ToolDefinition) => boolean
}

/** How often members within repaired members are looked at, and how many members are repaired. */
const mostRepairRounds = 4
const mostRepairs = 64

/**
 * Repairs args that the schema of a tool refused, if the schema leaves one reading of them. The call then has the `callId` of the
 * repairedArgs args: they are what is approved, run, cached and recorded.
 *
 * @param options Which repairs, and for which tools.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { argsRepair } from 'toolwright/repairs/args'
 *
 * const executor = createExecutor({ use: [argsRepair({ steps: ['double-encoded', 'number-from-text'] })] })
 * executor.on('call:repaired', ({ toolName, steps }) => console.log(toolName, steps))
 * ```
 * @experimental
 */
export function argsRepair(options: ArgsRepairOptions = {}): Required<Pick<Extension, 'repair'>> {
  checkOptions('argsRepair', options, {
    steps: { expected: 'a list of steps', accepts: Array.isArray },
    tools: functionOption,
  })
  const { steps = argsSteps, tools = () => true } = options
  const stranger = steps.find((step) => !argsSteps.includes(step))
  if (stranger !== undefined) {
    throw optionsError('argsRepair', `has no step ${JSON.stringify(String(stranger))}: it has ${argsSteps.join(', ')}`)
  }
  const wanted = new Set<ArgsStep>(steps)
  const repair: Repair = (refused) => (tools(refused.tool) ? repairedArgs(refused, wanted) : undefined)
  return { repair }
}

async function repairedArgs(refused: RefusedArgs, wanted: ReadonlySet<ArgsStep>): Promise<RepairedArgs | undefined> {
  const steps: RepairStep[] = []
  let { args, issues } = refused
  if (typeof args === 'string') {
    const read = issues === undefined ? repairText(args, wanted) : decodedText(args, ['object'], wanted)
    if (read === undefined) return undefined
    args = read.value
    steps.push(...read.steps.map((step) => ({ step, path: [] })))
    issues = await refused.check(args)
  }
  for (let round = 0; issues !== undefined && round < mostRepairRounds; round++) {
    for (const { path } of issues) {
      const step = repairAt(args, path, typesAt(refused.tool, path), wanted)
      if (step === undefined || steps.length >= mostRepairs) return undefined
      steps.push({ step, path: path.map((key) => (typeof key === 'number' ? key : String(key))) })
    }
    issues = await refused.check(args)
  }
  return issues === undefined && steps.length > 0 ? { args, steps } : undefined
}

/** Repairs the text at a path, in place. Returns the step; nothing, if it has no reading, or more than one. */
function repairAt(
  args: unknown,
  path: readonly PropertyKey[],
  types: JsonTypes | undefined,
  wanted: ReadonlySet<ArgsStep>,
): ArgsStep | undefined {
  const key = path.at(-1)
  if (key === undefined || types === undefined || types.includes('string')) return undefined
  const holder = path.slice(0, -1).reduce<unknown>(ownValue, args)
  const text = ownValue(holder, key)
  if (typeof text !== 'string') return undefined
  const reading = onlyReading(text, types, wanted)
  if (reading === undefined) return undefined
  Object.defineProperty(holder, key, { value: reading.value, enumerable: true, configurable: true, writable: true })
  return reading.step
}

function onlyReading(
  text: string,
  types: JsonTypes,
  wanted: ReadonlySet<ArgsStep>,
): { readonly step: ArgsStep; readonly value: unknown } | undefined {
  const isNumeric = types.includes('number') || types.includes('integer')
  if (isNumeric && wanted.has('number-from-text') && isExact(text))
    return { step: 'number-from-text', value: Number(text) }
  if (types.includes('boolean') && wanted.has('boolean-from-text') && (text === 'true' || text === 'false')) {
    return { step: 'boolean-from-text', value: text === 'true' }
  }
  const inner = decodedText(text, types, wanted)
  return inner && { step: 'double-encoded', value: inner.value }
}

/** Whether a text is a number of JSON that is written as it is read: not `007`, `1e3`, `1.0`, `-0` or what a double cannot hold. */
function isExact(text: string): boolean {
  const value = Number(text)
  const isSafe = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
  return isSafe && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) && String(value) === text
}

/** Reads a text that is the JSON of an object or an array, once. */
function decodedText(
  text: string,
  types: JsonTypes,
  wanted: ReadonlySet<ArgsStep>,
): { readonly value: unknown; readonly steps: readonly ArgsStep[] } | undefined {
  if (!wanted.has('double-encoded') || !/^\s*[[{]/.test(text)) return undefined
  try {
    const value = parseJson(text, { limit: Infinity })
    const type = Array.isArray(value) ? 'array' : 'object'
    return types.includes(type) ? { value, steps: ['double-encoded'] } : undefined
  } catch {
    return undefined
  }
}

function ownValue(holder: unknown, key: PropertyKey): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined
  return (holder as Record<PropertyKey, unknown>)[key]
}
