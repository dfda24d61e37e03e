import {
  createExecutor,
  tool,
  type ArtifactClass,
  type ExecutorOptions,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { artifactTools, type ArtifactToolsOptions } from 'toolwright/artifacts/tools'
import { expect } from 'vitest'

/** An executor with one tool that returns what it is told to, and the tools of artifacts. */
export interface Asking {
  readonly executor: ToolExecutor
  /** Keeps a result; gives its handle. */
  readonly keep: (result: unknown, session?: string) => Promise<string>
  /** Asks about what was kept last, or about a given artifact; gives the result. */
  readonly call: (name: string, args?: object, session?: string) => Promise<ToolResult>
  /** The same; gives the words of an answer. */
  readonly ask: (name: string, args?: object) => Promise<string>
}

export interface AskingOptions extends Omit<ArtifactToolsOptions, 'only'> {
  /** Default: all. */
  readonly only?: 'all' | 'usual' | readonly string[]
  readonly artifact?: ArtifactClass
  readonly trusted?: boolean
  readonly executor?: Omit<ExecutorOptions, 'tools'>
}

export function asking(options: AskingOptions = {}): Asking {
  const { artifact, trusted = false, executor: executorOptions, only = 'all', ...tools } = options
  let next: unknown
  const give = tool({ name: 'give', description: 'Gives', trusted, ...(artifact && { artifact }), handler: () => next })
  const executor = createExecutor({
    inlineLimit: 0,
    ...executorOptions,
    tools: [give],
    use: [...(executorOptions?.use ?? []), artifactTools({ ...(only === 'usual' ? {} : { only }), ...tools })],
  })
  let last = ''
  return {
    executor,
    async keep(result, session = 'a') {
      next = result
      const kept = await executor.execute({ name: 'give' }, { session })
      expect(kept.status, words(kept)).toBe('ok')
      last = kept.handle ?? expect.fail('nothing was stored')
      return last
    },
    call: (name, args = {}, session = 'a') =>
      executor.execute({ name: `artifact_${name}`, args: { artifact: last, ...args } }, { session }),
    async ask(name, args = {}) {
      const result = await executor.execute(
        { name: `artifact_${name}`, args: { artifact: last, ...args } },
        { session: 'a' },
      )
      expect(result.status, words(result)).toBe('ok')
      return words(result)
    },
  }
}

/** The words that a model is shown. */
export function words({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

export function bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/** Lines with their numbers in them. */
export function lines(count: number, text: (line: number) => string = (line) => `line ${line}`): string {
  return Array.from({ length: count }, (_, line) => text(line)).join('\n')
}
