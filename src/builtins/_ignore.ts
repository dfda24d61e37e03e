import { compiledPattern } from './_engine.ts'
import { globPattern, type PathTest } from './_glob.ts'

const mostRules = 2_000

interface Rule {
  readonly matches: PathTest
  readonly isNegated: boolean
  readonly isForDirectories: boolean
}

/** The rules of one `.gitignore` file. Paths are relative to its directory. */
export class IgnoreFile {
  readonly #rules: readonly Rule[]

  private constructor(rules: readonly Rule[]) {
    this.#rules = rules
  }

  /** Rules that cannot be read are left out: more files are shown then, never fewer. */
  static async of(text: string): Promise<IgnoreFile> {
    const rules: Rule[] = []
    for (const line of text.split(/\r?\n/).slice(0, mostRules)) {
      const rule = await ruleOf(line).catch(() => undefined)
      if (rule !== undefined) rules.push(rule)
    }
    return new IgnoreFile(rules)
  }

  /** Returns whether the file hides a path, or shows it in spite of files above; `undefined` if it says nothing of it. */
  hides(path: string, isDirectory: boolean): boolean | undefined {
    const last = this.#rules.findLast((rule) => (isDirectory || !rule.isForDirectories) && rule.matches(path))
    return last && !last.isNegated
  }
}

async function ruleOf(line: string): Promise<Rule | undefined> {
  const text = line.replace(/(?<!\\)\s+$/, '')
  if (text === '' || text.startsWith('#')) return undefined
  const isNegated = text.startsWith('!')
  const written = isNegated ? text.slice(1) : text
  const isForDirectories = written.endsWith('/')
  const pattern = written.replace(/\/+$/, '')
  const isAnchored = pattern.includes('/')
  const glob = pattern.replace(/^\/+/, '')
  if (glob === '' || glob.length > 1_000) return undefined
  return { matches: await pathTest(glob, isAnchored), isNegated, isForDirectories }
}

/** The common forms need no engine. */
async function pathTest(glob: string, isAnchored: boolean): Promise<PathTest> {
  const isPlain = !/[*?[\\]/.test(glob)
  if (isPlain && isAnchored) return (path) => path === glob
  if (isPlain) return (path) => path === glob || path.endsWith(`/${glob}`)
  if (!isAnchored && /^\*[^*?[\\]+$/.test(glob)) return (path) => path.endsWith(glob.slice(1))
  const machine = await compiledPattern(globPattern(isAnchored ? glob : `**/${glob}`, false))
  return (path) => machine.testExact(path)
}
