import type { ArtifactStore } from '../../extension.ts'
import type { ToolDefinition } from '../../index.ts'

/** What a tape does with a call: writes it down, gives it again, does either, or lets it run. */
export type CassetteMode = 'record' | 'replay' | 'append' | 'off'

/** The options of a tape, with their defaults. */
export interface TapeSettings {
  readonly path: string
  readonly mode: CassetteMode
  readonly onMiss: 'fail' | 'run'
  readonly strict: boolean
  readonly timing: 'instant' | 'recorded'
  readonly live: (tool: ToolDefinition) => boolean
  readonly label: ((session: string) => string) | undefined
  readonly redact: ((text: string) => string) | undefined
  readonly store: ArtifactStore | undefined
  /** Takes changed tools in words, each once. */
  readonly report: (words: string) => void
}
