import type { ToolExecutor } from '../../index.ts'
import type { ClientToolDescription } from '../../extension.ts'
import type { PageTools } from '../page-tools.ts'
import { isFieldsObject } from './_input.ts'
import type { AgUiInput } from './_types.ts'

const holder = 'ag-ui'
const dayLength = 86_400_000

/** What the runs under way of one session have declared. */
interface Declaration {
  runs: number
  tools: readonly ClientToolDescription[]
}

/** The tools that front ends declare with their runs. They stay for the run, and as long as a call of one of them waits. */
export class DeclaredTools {
  readonly #executor: ToolExecutor
  readonly #pageTools: PageTools
  readonly #sessions = new Map<string, Declaration>()

  constructor(executor: ToolExecutor, pageTools: PageTools) {
    this.#executor = executor
    this.#pageTools = pageTools
  }

  /**
   * Makes tools of what a front end declares.
   *
   * @returns A function for the end of the run, which never rejects.
   * @throws As `PageTools.declare`. Then nothing is declared.
   */
  begin(session: string, { tools: descriptions = [] }: AgUiInput): () => Promise<void> {
    const tools = descriptions.map(({ name, description, parameters }) => ({
      name,
      description: description || `Execute ${name}`,
      ...(isFieldsObject(parameters) && { inputSchema: parameters }),
      timeout: dayLength,
    }))
    this.#pageTools.declare(session, holder, tools, dayLength)
    const declaration = this.#sessions.get(session) ?? { runs: 0, tools }
    declaration.runs++
    declaration.tools = tools
    this.#sessions.set(session, declaration)
    return () => this.#end(session, declaration)
  }

  async #end(session: string, declaration: Declaration): Promise<void> {
    if (--declaration.runs > 0) return
    this.#sessions.delete(session)
    const names = new Set(declaration.tools.map(({ name }) => name))
    if (names.size === 0) return
    try {
      const waiting = await this.#executor.calls.waiting({ session })
      if (this.#sessions.has(session)) return // the next run has declared its own
      const until = Math.max(0, ...waiting.flatMap((call) => (names.has(call.toolName) ? [call.expiresAt] : [])))
      const left = Math.min(until - Date.now(), dayLength)
      this.#pageTools.declare(session, holder, left > 0 ? declaration.tools : [], left)
    } catch {
      // the journal is down: they stay for a day
    }
  }
}
