// The same benches over the sources of two commits: `overhead` in one process, call beside call, and the others in processes that take
// turns.
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
 * measure differs; each figure is taken as a ratio to its bench's first variant, in the same process.
 *
 * @param commit Anything that git takes for a commit.
 * @param benches Their names; the benches in question measure in one process.
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

/** What a call takes of the processor in two trees, in nanoseconds, and how the second compares with the first. */
interface Pair {
  readonly title: string
  readonly name: string
  readonly first: number
  readonly second: number
  readonly ratio: number
}

function compareCalls(commit: string, other: string): void {
  const changes = new Map<string, Pair[]>()
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`overhead: round ${round + 1} of ${rounds}\n`)
    for (const title of Object.keys(handlers)) {
      // What is loaded first may lie worse in memory, so each tree is the first once.
      const turned = new Map(sideBySide(title, [root, other]).map((pair) => [pair.name, pair]))
      for (const pair of sideBySide(title, [other, root])) {
        const ratio = Math.sqrt(pair.ratio / turned.get(pair.name)!.ratio)
        const key = `${title}/${pair.name}`
        changes.set(key, [...(changes.get(key) ?? []), { ...pair, ratio }])
      }
    }
  }
  const median = (pairs: readonly Pair[], figure: 'first' | 'second' | 'ratio'): number =>
    quantile(
      pairs.map((pair) => pair[figure]),
      0.5,
    )
  const all = [...changes.values()]
  const cells = all.map((pairs) => {
    const { title, name } = pairs[0]!
    const times = [inUnit(median(pairs, 'first')), inUnit(median(pairs, 'second'))]
    return [title, name, ...times, ...spreadOf(pairs.map(({ ratio }) => ratio))]
  })
  printWords({ head: ['overhead', 'variant', commit.slice(0, 12), 'here', 'change', `of ${rounds} runs`], cells })
  const medians = all.map((pairs) => median(pairs, 'ratio'))
  const above = medians.filter((ratio) => ratio > 1.05).length
  printWords({
    head: ['median of all', 'above +5 % in most runs'],
    cells: [[percent(quantile(medians, 0.5)), `${above} of ${medians.length}`]],
  })
}

function sideBySide(title: string, trees: readonly string[]): readonly Pair[] {
  const program = join(import.meta.dirname, '_side-by-side.ts')
  const { status, stdout, stderr } = runNode([program, title, ...trees], root, 9)
  if (status !== 0) throw new Error(`overhead failed:\n${stderr}`)
  return JSON.parse(stdout) as readonly Pair[]
}

function compareTrees(bench: string, commit: string, other: string): void {
  const runs: { before: Map<string, Row>; after: Map<string, Row> }[] = []
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${bench}: round ${round + 1} of ${rounds}\n`)
    // Whoever comes second finds another machine than the first: the turns alternate.
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

function runNode(words: readonly string[], cwd: string, measurements = 15): SpawnSyncReturns<string> {
  const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, BENCH_ROUNDS: String(measurements) }
  return spawnSync(process.execPath, [...flags, ...words], { cwd, encoding: 'utf8', env })
}

function run(bench: string, tree: string): Map<string, Row> {
  const { status, stderr } = runNode([join(tree, 'bench', `${bench}.ts`)], tree)
  if (status !== 0) throw new Error(`${bench} failed in ${tree}:\n${stderr}`)
  const { rows } = JSON.parse(readFileSync(join(tree, 'bench', 'results', `${bench}.json`), 'utf8')) as Results
  return new Map(rows.map((row) => [`${row.title}/${row.name}`, row]))
}
