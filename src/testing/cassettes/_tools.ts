import type { ToolDefinition } from '../../index.ts'
import { fingerprint } from '../../records/fingerprint.ts'
import { differenceLines, jsonDifferences } from './_differences.ts'
import type { RecordedTool } from './_recorded.ts'

/** The tools of a tape, and how they have changed since. */
export class TapeTools {
  /** Which tools have changed, in words. */
  readonly drifts: string[] = []
  readonly #byName: Map<string, RecordedTool>
  readonly #seen = new WeakSet<ToolDefinition>()

  constructor(recorded: Readonly<Record<string, RecordedTool>>) {
    this.#byName = new Map(Object.entries(recorded))
  }

  /** Compares a tool when it is first called. Returns what has changed of it. */
  compare(tool: ToolDefinition, isRecording: boolean): string | undefined {
    if (this.#seen.has(tool)) return undefined
    this.#seen.add(tool)
    const now = { fingerprint: fingerprint(tool), definition: definitionJson(tool) }
    const before = this.#byName.get(tool.name)
    if (isRecording) this.#byName.set(tool.name, now)
    if (before === undefined || before.fingerprint === now.fingerprint) return undefined
    const lines = differenceLines(jsonDifferences(before.definition, now.definition))
    const words = `The tool ${tool.name} has changed since it was recorded:\n${lines}`
    this.drifts.push(words)
    return words
  }

  toJSON(): Readonly<Record<string, RecordedTool>> {
    return Object.fromEntries(this.#byName)
  }
}

/** What a reviewer of a changed tool wants to see. */
function definitionJson(tool: ToolDefinition): unknown {
  const { name, traits } = tool
  try {
    return JSON.parse(JSON.stringify({ ...tool.describe(), traits }))
  } catch {
    return { name, traits } // a tool for people only need not have a schema that converts
  }
}
