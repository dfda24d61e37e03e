import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

/** What became of a process. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** How the command is started from source; a shell's first words. */
export const program: readonly string[] = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '-C',
  '@toolwright/source',
  join(root, 'src/cli/bin.ts'),
]

/** The five tools of the examples. */
export const storyTools: string = join(root, 'tests/examples/tools.ts')

/** The message of a format that the examples have. */
export function storyMessage(format: string): string {
  return join(root, `tests/examples/messages/${format}.json`)
}

/** A module of these tests. */
export function moduleOf(name: string): string {
  return fileURLToPath(new URL(`modules/${name}`, import.meta.url))
}

const folder = mkdtempSync(join(tmpdir(), 'toolwright-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a file that is gone after the tests; gives its path. */
export function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** A path where nothing is yet. */
export function place(name: string): string {
  return join(folder, name)
}

/** Starts a process whose stdin stays open. */
export function start(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  const [first = '', ...rest] = command
  // These decide about colours too; a test says itself what its terminal is like.
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...inherited } = process.env
  return spawn(first, rest, { cwd: root, env: { ...inherited, ...env } })
}

/** Waits for a process, with all that it wrote. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => {}) // it may end without having read
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** Runs the command, with some text on stdin or none. */
export function toolwright(words: readonly string[], stdin = ''): Promise<Ended> {
  const child = start([...program, ...words])
  const end = ended(child)
  child.stdin.end(stdin)
  return end
}

/** A chat completion's message with these calls; the args are JSON text, or become it. */
export function openaiMessage(...calls: readonly (readonly [name: string, args?: unknown])[]): string {
  const toolCalls = calls.map(([name, args = {}], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  return JSON.stringify({ role: 'assistant', content: null, tool_calls: toolCalls })
}

/** The texts of the reply to such a message, in order. */
export function openaiReply(stdout: string): string[] {
  const messages: { readonly content: string }[] = JSON.parse(stdout)
  return messages.map(({ content }) => content)
}
