// The same benches over the sources of two commits, in processes that take turns.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { printWords, quantile, type Results, type Row } from './_results.ts'

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
    for (const bench of benches) compareTrees(bench, commit, other)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: root })
    rmSync(folder, { recursive: true, force: true })
  }
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
  const percent = (share: number): string => `${share >= 1 ? '+' : ''}${((share - 1) * 100).toFixed(0)} %`
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
        percent(quantile(changes, 0.5)),
        `${percent(Math.min(...changes))} … ${percent(Math.max(...changes))}`,
      ],
    ]
  })
  printWords({ head: [bench, 'variant', commit.slice(0, 12), 'here', 'change', `of ${rounds} pairs`], cells })
}

function run(bench: string, tree: string): Map<string, Row> {
  const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
  const { status, stderr } = spawnSync(process.execPath, [...flags, join(tree, 'bench', `${bench}.ts`)], {
    cwd: tree,
    encoding: 'utf8',
    env: { ...process.env, BENCH_ROUNDS: '15' },
  })
  if (status !== 0) throw new Error(`${bench} failed in ${tree}:\n${stderr}`)
  const { rows } = JSON.parse(readFileSync(join(tree, 'bench', 'results', `${bench}.json`), 'utf8')) as Results
  return new Map(rows.map((row) => [`${row.title}/${row.name}`, row]))
}
