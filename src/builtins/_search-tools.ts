import { tool, type Tool, type ToolContext } from '../index.ts'
import { globTest } from './_glob.ts'
import { searchFiles } from './_grep.ts'
import type { ToolMaking } from './_naming.ts'
import { visibleText } from './_output.ts'
import { compiledPattern } from './_engine.ts'
import type { FileAccess, Match, Sandbox, SearchQuery } from './sandbox.ts'

const mostFoundFiles = 1_000
const mostAnswerBytes = 30_000
const longestShownLine = 500
const longestSearch = 20_000
const largestSearch = 268_435_456

type FilesFor = (path: string, context: ToolContext) => FileAccess

/** Makes the tools that find files and text. */
export function searchTools(sandbox: Sandbox, filesFor: FilesFor, making: ToolMaking): Tool[] {
  const hidden = {
    type: 'boolean',
    description: 'Whether to include what .gitignore files and node_modules hide. Default: false',
  } as const
  const directory = {
    type: 'string',
    description: 'The directory to begin at, or one file. Default: the workspace',
  } as const
  return [
    tool({
      ...making('fs_glob', [(input: { path?: string }) => [input.path ?? '.'], false]),
      description:
        'Finds files by a glob such as src/**/*.ts, newest first. ** stands for any directories, {a,b} for either',
      inputSchema: {
        type: 'object',
        properties: {
          pattern: { type: 'string', description: 'The glob, relative to `path`' },
          exclude: { type: 'string', description: 'A glob of files to leave out; at any depth if it has no slash' },
          path: directory,
          hidden,
        },
        required: ['pattern'],
        additionalProperties: false,
      },
      traits: { readonly: true },
      handler: (input, context) => glob(filesFor(input.path ?? '.', context), input, context),
    }),
    tool({
      ...making('fs_grep', [(input: { path?: string }) => [input.path ?? '.'], false]),
      description: 'Finds lines in files by a regular expression of RE2 (no lookaround, no references to groups)',
      inputSchema: {
        type: 'object',
        properties: {
          pattern: {
            type: 'string',
            minLength: 1,
            maxLength: 1_000,
            description: 'The expression; it is tried on each line',
          },
          path: directory,
          flags: {
            type: 'string',
            pattern: '^[imsu]*$',
            description: 'i: whatever the case. m, s and u change nothing',
          },
          glob: { type: 'string', description: 'Only files that match; at any depth if it has no slash' },
          mode: {
            enum: ['content', 'files', 'count'],
            description: 'What to give: the lines, the files, or the number of lines for each file. Default: content',
          },
          context: { type: 'integer', minimum: 0, maximum: 10, description: 'Lines before and after each. Default: 0' },
          limit: { type: 'integer', minimum: 1, maximum: 2_000, description: 'How many lines or files. Default: 200' },
          hidden,
        },
        required: ['pattern'],
        additionalProperties: false,
      },
      traits: { readonly: true },
      handler: (input, context) => grepFiles(sandbox, filesFor(input.path ?? '.', context), input, context),
    }),
  ]
}

interface GlobInput {
  readonly pattern: string
  readonly exclude?: string
  readonly path?: string
  readonly hidden?: boolean
}

async function glob(
  files: FileAccess,
  { pattern, exclude, path = '.', hidden = false }: GlobInput,
  { signal }: ToolContext,
): Promise<string> {
  const test = await globTest(pattern)
  const isExcluded = exclude === undefined ? () => false : await globTest(exclude, true)
  const matches = (_: string, relative: string): boolean => test(relative) && !isExcluded(relative)
  let note = ''
  const onLimit = (): void => {
    note = '\n[Only the first 100,000 files and directories were looked at: give a `path`.]'
  }
  const found: { readonly path: string; readonly modifiedAt: number }[] = []
  for await (const file of files.walk(path, { hidden, matches, onLimit, signal })) found.push(file)
  if (found.length === 0) return `No file matches.${note}`
  const listedFiles = found.toSorted((one, other) => other.modifiedAt - one.modifiedAt).slice(0, mostFoundFiles)
  if (found.length > listedFiles.length) {
    note += `\n[${listedFiles.length.toLocaleString('en')} of ${found.length.toLocaleString('en')} files, the newest: narrow the glob.]`
  }
  return listedFiles.map((file) => pathName(file.path)).join('\n') + note
}

/** A name with a line break would look like two. */
function pathName(path: string): string {
  return /[\n\r]/.test(path) ? JSON.stringify(path) : visibleText(Buffer.from(path))
}

interface GrepInput {
  readonly pattern: string
  readonly path?: string
  readonly flags?: string
  readonly glob?: string
  readonly mode?: 'content' | 'files' | 'count'
  readonly context?: number
  readonly limit?: number
  readonly hidden?: boolean
}

async function grepFiles(
  sandbox: Sandbox,
  files: FileAccess,
  input: GrepInput,
  { signal }: ToolContext,
): Promise<string> {
  const { mode = 'content', limit = 200 } = input
  const query: SearchQuery = {
    pattern: input.pattern,
    ignoreCase: input.flags?.includes('i') === true,
    path: input.path ?? '.',
    glob: input.glob,
    hidden: input.hidden === true,
    context: mode === 'content' ? (input.context ?? 0) : 0,
    signal,
  }
  // One syntax, whatever engine searches.
  await compiledPattern(query.pattern)
  if (query.glob !== undefined) await globTest(query.glob, true)
  const notes: string[] = []
  const limits = {
    until: performance.now() + longestSearch,
    mostBytes: largestSearch,
    note: (text: string) => void notes.push(text),
  }
  const found = new SearchAnswer(mode, limit)
  const matches =
    files === sandbox && sandbox.search !== undefined ? sandbox.search(query) : searchFiles(files, query, limits)
  for await (const match of matches) if (!found.add(match)) break
  return found.toText(notes)
}

/** The answer of a search, bounded by lines and bytes. */
class SearchAnswer {
  readonly #mode: 'content' | 'files' | 'count'
  readonly #limit: number
  readonly #lines: string[] = []
  readonly #counts = new Map<string, number>()
  #matches = 0
  #bytes = 0
  #isCut = false

  constructor(mode: 'content' | 'files' | 'count', limit: number) {
    this.#mode = mode
    this.#limit = limit
  }

  /** Returns whether there is room for more. */
  add({ path, line, text, isContext }: Match): boolean {
    if (this.#mode !== 'content') {
      const count = this.#counts.get(path)
      if (count === undefined && this.#counts.size >= this.#limit) return this.#cut()
      this.#counts.set(path, (count ?? 0) + 1)
      return true
    }
    if (!isContext && ++this.#matches > this.#limit) return this.#cut()
    const lineText = visibleText(
      Buffer.from(text.length > longestShownLine ? `${text.slice(0, longestShownLine)}…` : text),
    )
    const outputLine = `${pathName(path)}${isContext ? '-' : ':'}${line}${isContext ? '-' : ':'}${lineText.replaceAll('\n', ' ')}`
    this.#bytes += Buffer.byteLength(outputLine) + 1
    if (this.#bytes > mostAnswerBytes) return this.#cut()
    this.#lines.push(outputLine)
    return true
  }

  toText(notes: readonly string[]): string {
    const files = [...this.#counts]
    const lines =
      this.#mode === 'content'
        ? this.#lines
        : files.map(([path, count]) => (this.#mode === 'files' ? pathName(path) : `${pathName(path)}:${count}`))
    const cut = this.#isCut ? ['There is more: narrow the search, or raise `limit`.'] : []
    const noteLines = [...cut, ...notes].map((note) => `[${note}]`)
    return [...(lines.length === 0 ? ['Nothing matches.'] : lines), ...noteLines].join('\n')
  }

  #cut(): false {
    this.#isCut = true
    return false
  }
}
