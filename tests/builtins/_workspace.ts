import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isToolError, ToolFailure } from 'toolwright'
import { bubblewrap, type BubblewrapOptions } from 'toolwright/builtins/bubblewrap'
import { localSandbox } from 'toolwright/builtins/local'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { onTestFinished } from 'vitest'
import { user } from '../servers/bubblewrap.ts'

export const canary = 'the-canary-of-the-host'

/** A directory in which every user of the machine finds its own. */
export function temporary(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-builtins-')))
  chmodSync(directory, 0o755)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A new workspace with these files, beside a directory with a secret; a value of a link is `-> target`. */
export function workspace(files: Readonly<Record<string, string>> = {}): {
  readonly root: string
  readonly outside: string
} {
  const directory = temporary()
  const root = join(directory, 'root')
  const outside = join(directory, 'outside')
  for (const each of [root, outside]) mkdirSync(each)
  writeFileSync(join(outside, 'secret.txt'), canary)
  for (const [path, text] of Object.entries(files)) put(root, path, text)
  if (user !== undefined) own(root)
  return { root, outside }
}

export function put(root: string, path: string, text: string): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  if (text.startsWith('-> ')) symlinkSync(text.slice(3), file)
  else writeFileSync(file, text)
}

function own(directory: string): void {
  const { uid, gid } = user ?? { uid: 0, gid: 0 }
  chownSync(directory, uid, gid)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) own(path)
    else lchownSync(path, uid, gid)
  }
}

/** A sandbox that is closed after the test. */
export async function local(root: string, options: object = {}): Promise<Sandbox> {
  return closing(await localSandbox({ root, report: () => {}, ...options }))
}

export async function walled(root: string, options: Partial<BubblewrapOptions> = {}): Promise<Sandbox> {
  return closing(await bubblewrap({ root, ...(user && { user }), ...options }))
}

function closing(sandbox: Sandbox): Sandbox {
  onTestFinished(() => sandbox.close())
  return sandbox
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export async function textOf(sandbox: Pick<Sandbox, 'readFile'>, path: string): Promise<string> {
  return new TextDecoder().decode((await sandbox.readFile(path)).bytes)
}

/** The words of a refusal. Anything else that is thrown is a fault. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof ToolFailure || isToolError(error))
      return [error.message, ...(error.recommendations ?? [])].join(' ')
    throw error
  }
  throw new Error('was not refused')
}
