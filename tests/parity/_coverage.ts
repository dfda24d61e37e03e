import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[]
  }[]
}

/** What a program printed, and which share of each file's lines of code it ran: 0 where it did not load the file. */
export interface Covered {
  readonly stdout: string
  readonly shares: ReadonlyMap<string, number>
}

/**
 * Runs a program on the sources in a process of its own, and measures what of them it ran.
 *
 * @param program Its path.
 * @param files The paths of the sources that are measured.
 */
export async function covered(program: string, files: readonly string[]): Promise<Covered> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-coverage-'))
  try {
    const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
    const env = { ...process.env, NODE_V8_COVERAGE: folder }
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, program], { env })
    const scripts = globSync(join(folder, '*.json')).flatMap(
      (file) => (JSON.parse(readFileSync(file, 'utf8')) as { readonly result: ScriptCoverage[] }).result,
    )
    const shares = files.map((file) => {
      const script = scripts.find(({ url }) => url === pathToFileURL(file).href)
      return [fileURLToPath(pathToFileURL(file)), script === undefined ? 0 : shareOf(file, script)] as const
    })
    return { stdout, shares: new Map(shares) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The share of the lines of code that ran. Types are no code: Node puts spaces in their place before it runs a file. */
function shareOf(file: string, { functions }: ScriptCoverage): number {
  const code = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  const ran = new Uint8Array(code.length).fill(1)
  // An inner range says more than the one around it, and comes after it.
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  }
  let lines = 0
  let linesRun = 0
  let start = 0
  for (const line of code.split('\n')) {
    const first = start + line.search(/\S/)
    if (/^\s*(?!\/\/|\/?\*)\S/.test(line)) {
      lines++
      linesRun += ran[first] ?? 0
    }
    start += line.length + 1
  }
  return linesRun / lines
}
