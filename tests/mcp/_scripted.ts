import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mcpTools, type McpTools, type McpToolsOptions } from 'toolwright/mcp/client'
import { afterAll, onTestFinished } from 'vitest'

const program = join(import.meta.dirname, '_scripted-server.ts')

let folder: string | undefined
let servers = 0
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** A tool as a server lists it. */
export const define = (name: string, more: object = {}): object => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' },
  ...more,
})

export interface Scripted {
  readonly server: McpTools
  readonly reported: unknown[]
  /** What happened to the server, line by line. */
  readonly log: () => string[]
  readonly count: (line: RegExp) => number
}

/** What starts the server: a process of its own for every test. */
export function scriptedServer(
  tools: readonly unknown[],
  more: McpToolsOptions & { readonly list?: string } = {},
): Omit<Scripted, 'server'> & { readonly options: McpToolsOptions } {
  const { list = 'once', env, args = [], ...options } = more
  folder ??= mkdtempSync(join(tmpdir(), 'toolwright-mcp-'))
  const file = join(folder, `log-${servers++}`)
  const reported: unknown[] = []
  const log = (): string[] => {
    try {
      return readFileSync(file, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  return {
    options: {
      name: 'scripted',
      command: process.execPath,
      args: [program, file, ...args],
      env: { TOOLS: JSON.stringify(tools), LIST: list, ...env },
      protocol: '2025-11-25',
      report: (error) => reported.push(error),
      reconnectDelay: 20,
      ...options,
    },
    reported,
    log,
    count: (line) => log().filter((each) => line.test(each)).length,
  }
}

/** The tools of a server, which goes away with the test. */
export async function connect(
  tools: readonly unknown[],
  more: McpToolsOptions & { readonly list?: string } = {},
): Promise<Scripted> {
  const { options, ...rest } = scriptedServer(tools, more)
  const server = await mcpTools(options)
  onTestFinished(() => server.close())
  return { server, ...rest }
}

/** Waits until something is so, as long as the test may take. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
}

export const messages = (reported: readonly unknown[]): string[] => reported.map((error) => (error as Error).message)
