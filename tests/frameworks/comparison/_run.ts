// Puts every package through every step, each step in a process of its own.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { globSync } from 'tinyglobby'
import type { Found, Measured } from './_facts.ts'
import type { Compared } from './_scene.ts'

/** All that is known of a package. */
export interface Row extends Measured, Found {
  readonly name: string
  readonly versions: readonly string[]
  readonly uses: string
  readonly beside: string
}

const root = join(import.meta.dirname, '..', '..', '..')
const child = join(import.meta.dirname, '_child.ts')
const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning', child]

/** Measures every package, two at a time. Toolwright is the last. */
export async function compare(): Promise<Row[]> {
  const names = globSync('*.ts', { cwd: join(import.meta.dirname, 'packages') }).map((file) => file.slice(0, -3))
  const rows: Row[] = []
  const open = [...names]
  const work = async (): Promise<void> => {
    for (let name = open.pop(); name !== undefined; name = open.pop()) rows.push(await rowOf(name))
  }
  await Promise.all([work(), work()])
  const rank = ({ name }: Row): string => (name === 'Toolwright' ? '~' : name)
  return rows.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

async function rowOf(file: string): Promise<Row> {
  const { compared } = (await import(`./packages/${file}.ts`)) as { readonly compared: Compared }
  const { name, packages, uses, beside } = compared
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-comparison-'))
  try {
    const measured = (await step(file, 'measure', folder)) as Measured
    const kept = await killed(file, folder)
    const found = (await step(file, 'find', folder, kept)) as Found
    const versions = packages.map((each) => `${each} ${versionOf(each)}`)
    return { name, versions, uses, beside, ...measured, ...found }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function step(...parameters: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...parameters])
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** Kills a process while a handler runs. Returns what the application keeps, as text. */
async function killed(file: string, folder: string): Promise<string> {
  const running = spawn(process.execPath, [...flags, file, 'begin', folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => running.once('close', (_, signal) => resolve(signal)))
  let kept: string | undefined
  for await (const line of createInterface({ input: running.stdout })) {
    kept = line
    running.kill('SIGKILL')
  }
  if ((await ended) !== 'SIGKILL' || kept === undefined) throw new Error(`${file} ended before it could be killed.`)
  return kept
}

function versionOf(name: string): string {
  const homes = [join('tests', 'frameworks', 'npm', 'node_modules', name), join('node_modules', name)]
  const home =
    name === 'toolwright' ? '' : homes.find((each) => globSync(`${each}/package.json`, { cwd: root }).length > 0)
  if (home === undefined) throw new Error(`${name} is not installed.`)
  return (JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8')) as { readonly version: string }).version
}
