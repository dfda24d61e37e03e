import { normalize } from 'node:path'
import { content, tool, type Tool, type ToolContext } from '../index.ts'
import type { MarkedContent } from '../extension.ts'
import { fileBytes, edited, textFileOf, type Edit } from './_edits.ts'
import type { Freshness } from './_freshness.ts'
import { binaryKind, imageType, largestImage } from './_media.ts'
import type { ToolMaking } from './_naming.ts'
import { mostShown, textPart } from './_text-part.ts'
import { NameQueue } from './_name-queue.ts'
import { quotedPath, refusal, unchanged } from './_words.ts'
import type { FileAccess } from './sandbox.ts'

/** What the tools for files share. */
export interface FileWork {
  /** The files that a call may touch by a path. */
  filesFor(path: string, context: ToolContext): FileAccess
  freshness(context: ToolContext): Freshness
  readonly overwrite: 'read' | 'any'
}

const pathField = { type: 'string', description: 'The path of the file, relative to the workspace' } as const
const oldText = { type: 'string', description: 'The text to replace, exactly as it is in the file' } as const
const newText = { type: 'string', description: 'The text to put in its place' } as const
const allField = {
  type: 'boolean',
  description: 'Whether to replace it everywhere. Default: it has to be there once',
} as const

/** Bytes that one call may read and write to change files. */
const mostChanged = 67_108_864
/** All changes of files in this process: one begins with what the one before has written. */
const fileChanges = new NameQueue()

/** Makes the tools that read and change files. */
export function fileTools(work: FileWork, making: ToolMaking): Tool[] {
  return [
    tool({
      ...making('fs_read', [(input: { path: string }) => [input.path], false]),
      description: 'Reads lines of a text file in the workspace, or shows a picture',
      inputSchema: {
        type: 'object',
        properties: {
          path: pathField,
          offset: { type: 'integer', minimum: 1, description: 'The first line, from 1. Default: 1' },
          limit: { type: 'integer', minimum: 1, maximum: 2_000, description: 'How many lines. Default: 2,000' },
        },
        required: ['path'],
        additionalProperties: false,
      },
      traits: { readonly: true },
      handler: (input, context) => readFileLines(work, input, context),
    }),
    tool({
      ...making('fs_write', [(input: { path: string }) => [input.path], true]),
      description:
        'Writes a text file in the workspace, and makes its missing directories. A file that is there has to be read before',
      inputSchema: {
        type: 'object',
        properties: { path: pathField, content: { type: 'string', description: 'The whole new text of the file' } },
        required: ['path', 'content'],
        additionalProperties: false,
      },
      traits: { destructive: true },
      handler: async (input, context) => {
        const file = await fileIdentity(work, input.path, context)
        return fileChanges.take([file], context.signal, () => writeText(work, input, context))
      },
    }),
    tool({
      ...making('fs_edit', [(input: { path: string }) => [input.path], true]),
      description: 'Replaces text in a file: all of the edits, one after another, or none',
      inputSchema: {
        type: 'object',
        properties: {
          path: pathField,
          edits: {
            type: 'array',
            minItems: 1,
            maxItems: 100,
            description: 'The edits, in their order',
            items: {
              type: 'object',
              properties: { old: oldText, new: newText, all: allField },
              required: ['old', 'new'],
              additionalProperties: false,
            },
          },
        },
        required: ['path', 'edits'],
        additionalProperties: false,
      },
      traits: { destructive: true },
      handler: async ({ path: name, edits }, context) => {
        const [written] = await edit(work, atPath(name, edits), context)
        return written
      },
    }),
    tool({
      ...making('fs_multi_edit', [
        (input: { edits: { path: string }[] }) => input.edits.map((each) => each.path),
        true,
      ]),
      description:
        'Replaces text in several files: all of the edits, or none. Nothing is written unless every edit fits',
      inputSchema: {
        type: 'object',
        properties: {
          edits: {
            type: 'array',
            minItems: 1,
            maxItems: 100,
            description: 'The edits, in their order',
            items: {
              type: 'object',
              properties: { path: pathField, old: oldText, new: newText, all: allField },
              required: ['path', 'old', 'new'],
              additionalProperties: false,
            },
          },
        },
        required: ['edits'],
        additionalProperties: false,
      },
      traits: { destructive: true },
      handler: async (input, context) => ({ files: await edit(work, input.edits, context) }),
    }),
  ]
}

const identities = new WeakMap<FileAccess, string>()
let identified = 0

/** Returns the identity of the file that a call changes by a path. */
async function fileIdentity(work: FileWork, name: string, context: ToolContext): Promise<string> {
  const files = work.filesFor(name, context)
  if (files.identify !== undefined) return files.identify(name)
  const sandbox = identities.get(files) ?? `sandbox ${++identified}`
  identities.set(files, sandbox)
  return `${sandbox}: ${normalize(name)}`
}

async function readFileLines(
  work: FileWork,
  { path: name, offset = 1, limit = 2_000 }: { path: string; offset?: number; limit?: number },
  context: ToolContext,
): Promise<string | MarkedContent> {
  const { signal } = context
  const files = work.filesFor(name, context)
  const first = await files.readFile(name, { end: mostShown, signal })
  const bytes = `${first.size.toLocaleString('en')} bytes`
  const mimeType = imageType(first.bytes)
  if (mimeType !== undefined) {
    if (first.size > largestImage) throw refusal(`${quotedPath(name)} is a picture of ${bytes}: too large to be shown.`)
    const imageBytes = await files.readFile(name, { end: largestImage, signal })
    return content([{ type: 'image', mimeType, data: Buffer.from(imageBytes.bytes).toString('base64') }])
  }
  const kind = binaryKind(first.bytes)
  if (kind !== undefined) throw refusal(`${quotedPath(name)} is no text but ${kind}, with ${bytes}.`)
  const part = await textPart(files, name, first, { offset, limit, signal })
  work.freshness(context).note(name, part.version)
  const text = new TextDecoder().decode(part.bytes)
  if (first.size === 0) return '(The file is empty.)'
  return part.note === ''
    ? text
    : content([
        { type: 'text', text },
        { type: 'text', text: part.note },
      ])
}

async function writeText(
  work: FileWork,
  input: { readonly path: string; readonly content: string },
  context: ToolContext,
): Promise<{ path: string; bytes: number; created: boolean }> {
  const files = work.filesFor(input.path, context)
  const freshness = work.freshness(context)
  const before = await files.stat(input.path)
  const isKept = work.overwrite === 'read'
  if (isKept && before?.kind === 'file') freshness.requireRead(input.path, before.version)
  const bytes = new TextEncoder().encode(input.content)
  const expect = isKept ? (before?.version ?? null) : undefined
  const { version, created } = await files.writeFile(input.path, bytes, { expect, signal: context.signal })
  freshness.note(input.path, version)
  return { path: input.path, bytes: bytes.length, created }
}

type EditOfFile = Edit & { readonly path: string }

interface EditsOfFile {
  readonly path: string
  readonly edits: readonly Edit[]
}

function atPath(name: string, edits: readonly Edit[]): EditOfFile[] {
  return edits.map((each) => ({ ...each, path: name }))
}

/** Groups edits by the identity of their file: several paths may lead to one. */
async function byFile(
  work: FileWork,
  edits: readonly EditOfFile[],
  context: ToolContext,
): Promise<ReadonlyMap<string, EditsOfFile>> {
  const identityOfPath = new Map<string, string>()
  const files = new Map<string, { path: string; edits: Edit[] }>()
  for (const each of edits) {
    const identity = identityOfPath.get(each.path) ?? (await fileIdentity(work, each.path, context))
    identityOfPath.set(each.path, identity)
    const file = files.get(identity) ?? { path: each.path, edits: [] }
    file.edits.push(each)
    files.set(identity, file)
  }
  return files
}

interface WrittenFile {
  readonly path: string
  readonly replaced: number
  readonly diff: string
}

async function edit(work: FileWork, edits: readonly EditOfFile[], context: ToolContext): Promise<WrittenFile[]> {
  const files = await byFile(work, edits, context)
  return fileChanges.take([...files.keys()], context.signal, () => editFiles(work, [...files.values()], context))
}

function tooLargeTogether(): Error {
  return unchanged(
    `The files, and what would become of them, have more than ${mostChanged.toLocaleString('en')} bytes together. Nothing was changed.`,
    'Change them in several calls.',
  )
}

async function editFiles(work: FileWork, wanted: readonly EditsOfFile[], context: ToolContext): Promise<WrittenFile[]> {
  const ready: (WrittenFile & { readonly files: FileAccess; readonly version: string; readonly bytes: Uint8Array })[] =
    []
  let size = 0
  for (const { path: name, edits } of wanted) {
    const files = work.filesFor(name, context)
    const { bytes: before, version } = await files.readFile(name, { end: 8_388_609, signal: context.signal })
    work.freshness(context).requireUnchanged(name, version)
    const file = textFileOf(before, name)
    const { text, replaced, diff } = edited(file, edits, name)
    const bytes = fileBytes({ text, hasMark: file.hasMark })
    size += before.length + bytes.length
    if (size > mostChanged) throw tooLargeTogether()
    ready.push({ path: name, files, version, bytes, replaced, diff })
  }
  const written: WrittenFile[] = []
  for (const { path: name, files, version, bytes, replaced, diff } of ready) {
    try {
      context.signal.throwIfAborted() // the next change may have begun then
      const after = await files.writeFile(name, bytes, { expect: version, signal: context.signal })
      work.freshness(context).note(name, after.version)
    } catch (error) {
      if (written.length === 0) throw error
      const done = written.map((each) => quotedPath(each.path)).join(', ')
      throw refusal(`${(error as Error).message} Already written: ${done}.`, 'Read these files before you go on.')
    }
    written.push({ path: name, replaced, diff })
  }
  return written
}
