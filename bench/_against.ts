// The same benches over the sources of two commits, in processes that alternate: each figure is a ratio to another in its process.
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { handlers } from './_handlers.ts'
import { inUnit, printWords, quantile, type Results, type Row } from './_results.ts'

const root = join(import.meta.dirname, '..')
const rounds = 5

/**
 * Compares the working tree with a commit. The benches are those of the working tree on both sides, so that only what they
 * measure differs; each figure is taken as a ratio to another in the same process.
 *
 * @param commit Anything that git takes for a commit.
 * @param benches Their names.
 */
export function against(commit: string, benches: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-against-'))
  const other = join(folder, 'tree')
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', other, commit], { cwd: root })
  try {
    symlinkSync(join(root, 'node_modules'), join(other, 'node_modules'))
    rmSync(join(other, 'bench'), { recursive: true, force: true })
    const isOurs = (path: string): boolean => !['node_modules', 'results'].includes(basename(path))
    cpSync(import.meta.dirname, join(other, 'bench'), { recursive: true, filter: isOurs })
    for (const bench of benches) {
      if (bench === 'overhead') compareCalls(commit, other)
      else compareTrees(bench, commit, other)
    }
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: root })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a call takes of the processor: the median in nanoseconds, and the median and the tenth percentile as multiples of the floor's. */
interface Figure {
  readonly title: string
  readonly name: string
  readonly time: number
  readonly ratio: number
  readonly low: number
  /** Whether it runs nothing of the package. */
  readonly isControl: boolean
}

/** Each tree has processes of its own, as in a program: in one process, either would change how the engine runs the other. */
function compareCalls(commit: string, other: string): void {
  const changes = new Map<string, { before: Figure[]; after: Figure[]; ratios: number[]; lows: number[] }>()
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`overhead: round ${round + 1} of ${rounds}\n`)
    for (const title of Object.keys(handlers)) {
      // The machine changes while they run, so each tree is first once.
      const [one, two, three, four] = [other, root, root, other].map((tree) => besideFloor(title, tree))
      for (const [index, { name }] of one!.entries()) {
        const key = `${title}/${name}`
        const before = [one![index]!, four![index]!]
        const after = [two![index]!, three![index]!]
        const change = changes.get(key) ?? { before: [], after: [], ratios: [], lows: [] }
        changes.set(key, change)
        change.before.push(...before)
        change.after.push(...after)
        change.ratios.push(mean(after, 'ratio') / mean(before, 'ratio'))
        change.lows.push(mean(after, 'low') / mean(before, 'low'))
      }
    }
  }
  const median = (figures: readonly Figure[]): string =>
    inUnit(
      quantile(
        figures.map(({ time }) => time),
        0.5,
      ),
    )
  const all = [...changes.values()]
  const cells = all.map(({ before, after, ratios, lows }) => {
    const { title, name } = before[0]!
    return [title, name, median(before), median(after), ...spreadOf(ratios), percent(quantile(lows, 0.5))]
  })
  printWords({
    head: ['overhead', 'variant', commit.slice(0, 12), 'here', 'change', `of ${rounds} runs`, 'of p10'],
    cells,
  })
  // What the controls change by is the error of the comparison: they run the same code on both sides.
  const isControl = ({ before }: (typeof all)[number]): boolean => before[0]!.isControl
  printWords({
    head: ['median of the rows that run', 'change', 'of p10', 'above +5 %'],
    cells: [
      ['the package', ...summaryOf(all.filter((row) => !isControl(row)))],
      ['nothing of it', ...summaryOf(all.filter(isControl))],
    ],
  })
}

/** Returns the medians of some rows, and how many of them are more than 5 % slower in most rounds. */
function summaryOf(rows: readonly { readonly ratios: number[]; readonly lows: number[] }[]): readonly string[] {
  const medians = rows.map(({ ratios }) => quantile(ratios, 0.5))
  const lows = rows.map(({ lows: ofRow }) => quantile(ofRow, 0.5))
  const above = medians.filter((ratio) => ratio > 1.05).length
  return [percent(quantile(medians, 0.5)), percent(quantile(lows, 0.5)), `${above} of ${rows.length}`]
}

/** The geometric mean of multiples of the floor. */
function mean(figures: readonly Figure[], of: 'ratio' | 'low'): number {
  return figures.reduce((product, figure) => product * figure[of], 1) ** (1 / figures.length)
}

function besideFloor(title: string, tree: string): readonly Figure[] {
  const program = join(tree, 'bench', '_beside-floor.ts')
  const { status, stdout, stderr } = runNode([program, title], tree)
  if (status !== 0) throw new Error(`overhead failed in ${tree}:\n${stderr}`)
  return JSON.parse(stdout) as readonly Figure[]
}

function compareTrees(bench: string, commit: string, other: string): void {
  const runs: { before: Map<string, Row>; after: Map<string, Row> }[] = []
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${bench}: round ${round + 1} of ${rounds}\n`)
    // The second finds another machine than the first: the turns alternate.
    if (round % 2 === 0) runs.push({ before: run(bench, other), after: run(bench, root) })
    else {
      const after = run(bench, root)
      runs.push({ before: run(bench, other), after })
    }
  }
  const median = (samples: readonly number[]): string => quantile(samples, 0.5).toFixed(2)
  const cells = [...(runs[0]?.after.values() ?? [])].flatMap(({ title, name, ratio }) => {
    const pairs = runs.flatMap(({ before, after }) => {
      const [one, two] = [before.get(`${title}/${name}`), after.get(`${title}/${name}`)]
      return one === undefined || two === undefined ? [] : [{ before: one.ratio, after: two.ratio }]
    })
    if (pairs.length === 0 || ratio === 1) return []
    const changes = pairs.map((pair) => pair.after / pair.before)
    return [
      [
        title,
        name,
        median(pairs.map((pair) => pair.before)),
        median(pairs.map((pair) => pair.after)),
        ...spreadOf(changes),
      ],
    ]
  })
  printWords({ head: [bench, 'variant', commit.slice(0, 12), 'here', 'change', `of ${rounds} pairs`], cells })
}

function percent(share: number): string {
  return `${share >= 1 ? '+' : ''}${((share - 1) * 100).toFixed(1)} %`
}

/** Returns the median of some ratios and their range, as people read them. */
function spreadOf(ratios: readonly number[]): readonly string[] {
  return [percent(quantile(ratios, 0.5)), `${percent(Math.min(...ratios))} … ${percent(Math.max(...ratios))}`]
}

function runNode(words: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, BENCH_ROUNDS: '15' }
  return spawnSync(process.execPath, [...flags, ...words], { cwd, encoding: 'utf8', env })
}

function run(bench: string, tree: string): Map<string, Row> {
  const { status, stderr } = runNode([join(tree, 'bench', `${bench}.ts`)], tree)
  if (status !== 0) throw new Error(`${bench} failed in ${tree}:\n${stderr}`)
  const { rows } = JSON.parse(readFileSync(join(tree, 'bench', 'results', `${bench}.json`), 'utf8')) as Results
  return new Map(rows.map((row) => [`${row.title}/${row.name}`, row]))
}
