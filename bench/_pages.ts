// Renders what the pages show from the summary: nothing in it is written by hand, and a test compares the two.
import prettier from 'prettier'
import { chart, type Bar, type Theme } from './_chart.ts'
import { inUnit, type Words } from './_results.ts'
import type { BenchSummary, Summary, SummaryTable } from './_summary.ts'

/** The end of the line, or the line before the table, that is written here. */
const mark = '<!-- Written by `npm run bench:report`. -->'
// The front page is part of the package, and the benches are not: it finds them where the sources are.
const published = 'https://github.com/toolwright/toolwright'
const themes: readonly Theme[] = ['light', 'dark']

/** Every file that the report writes, but the front page. */
export async function files(summary: Summary): Promise<ReadonlyMap<string, string>> {
  const written = new Map([['bench/README.md', await formatted(pageOf(summary))]])
  for (const { name, title, bars } of charts(summary)) {
    for (const theme of themes) written.set(`bench/charts/${name}-${theme}.svg`, chart(title, bars, theme))
  }
  return written
}

/**
 * Returns the front page with its line on performance as the summary says it.
 *
 * @throws If the page has no such line.
 */
export function frontPage(page: string, summary: Summary): string {
  const lines = page.split('\n')
  const line = lines.findIndex((text) => text.endsWith(mark))
  if (line < 0) throw new Error(`The page has no line that ends with "${mark}".`)
  return lines.with(line, `${lineOf(summary)} ${mark}`).join('\n')
}

/**
 * Returns the page of the validators with its table of costs as the summary has it.
 *
 * @throws If the page has no place for it.
 */
export async function validatorsPage(page: string, { validation }: Summary): Promise<string> {
  const start = page.indexOf(mark)
  if (start < 0) throw new Error(`The page has no line "${mark}".`)
  const tables = ['valid input', 'invalid input', 'from nothing'].map((title) => tableAt(validation, title))
  const names = (tables[0]?.rows ?? []).map(([name]) => name).filter((name) => !name.endsWith('alone'))
  const cells = names.map((name) => [
    `\`${name}\``,
    ...tables.map((of) => of?.rows.find(([other]) => other === name)?.[4]?.toPrecision(2) ?? ''),
  ])
  const text = await formatted(table(['', 'valid args', 'invalid args', 'first answer of a process'], cells))
  const rest = page.slice(start + mark.length).replace(/^\s*(?:COSTS\n|(?:\|.*\n)*)/, '')
  return `${page.slice(0, start + mark.length)}\n\n${text}${rest.startsWith('\n') ? '' : '\n'}${rest}`
}

function charts(summary: Summary): { name: string; title: string; bars: Bar[] }[] {
  const idle = tableAt(summary['rivals'], 'a call that does nothing')
  const valid = tableAt(summary['validation'], 'valid input')
  return [
    {
      name: 'rivals',
      title: 'One call that does nothing; 1× is the floor with canonicalize',
      bars: barsOf(idle, 'toolwright'),
    },
    { name: 'validation', title: 'Checking valid args; 1× is Zod', bars: barsOf(valid, '()') },
  ].filter(({ bars }) => bars.length > 0)
}

function barsOf(of: SummaryTable | undefined, ours: string): Bar[] {
  return (of?.rows ?? []).flatMap(([name, , , , ratio]) =>
    ratio === null ? [] : [{ name, ratio, isOurs: name.includes(ours) }],
  )
}

function tableAt(bench: BenchSummary | undefined, title: string): SummaryTable | undefined {
  return bench?.tables.find((one) => one.title.startsWith(title))
}

/** The variants whose figures the front page has. */
const shownVariants = ['direct call', 'whole pipeline', '… one policy, one observer', '… and a journal in memory']

/** Our own figures, and the way to all others. */
function lineOf({ overhead }: Summary): string {
  const ours = overhead?.tables[0]?.rows.filter(([name]) => shownVariants.includes(name)) ?? []
  const words = (name: string): string => name.replace('… and ', 'and ').replace('… ', 'with ')
  const figures = ours.map(([name, , , , ratio]) => `${words(name)} ${ratio?.toFixed(2)}`).join(' · ')
  const rest = `[All figures](${published}/blob/main/bench/README.md).`
  return `What a call costs, if the same steps by hand cost 1: ${figures}. ${rest}`
}

/** What a bench asks, if its tables do not say it. */
const introductions: Readonly<Record<string, string>> = {
  'rivals-validation': ' A tool takes a number, and the model sends text: does the handler run?',
}

/** All figures of all benches. */
function pageOf(summary: Summary): string {
  const benches = Object.entries(summary).map(([name, bench]) =>
    [
      `## ${name}`,
      `\`npm run bench ${name}\`, ${place(bench)}${introductions[name] ?? ''}`,
      ...(name === 'rivals' || name === 'validation' ? [picture(name, 'charts')] : []),
      ...bench.words.map(marked),
      ...bench.tables.map(tableOf),
    ].join('\n\n'),
  )
  return [
    '# Benches',
    '<!-- This page is written by `npm run bench:report` from bench/summary.json. -->',
    [
      '- `npm run bench` lists what there is to measure, `npm run bench <name>` measures it and prints a table, `npm run bench all` measures everything.',
      '- `npm run bench -- --against <commit> [name]` compares the working tree with another commit, in processes that take turns.',
      '- `npm run bench:report` writes this page, the charts and a line of the front page from what was measured last.',
    ].join('\n'),
    'Variants of one question are measured in one process, interleaved, in alternating order: a ratio is worth comparing, a time is that of this machine on that day. What happens once in a process (loading, the first call) is measured in fresh ones. Where a figure has no spread it is a size or a count, the same on every machine.',
    'The **floor** is the least that a call can cost which is checked and identified: Zod, the library `canonicalize`, SHA-256, the handler and two events, by hand. The **tight floor** is the same with a canonical writer of twenty lines in place of the library, which knows that it is given a plain tree, and checks nothing: a kernel that takes args from strangers cannot use it. `overhead` measures both side by side; its ratios are to the tight floor, and so are the goals that it holds the pipeline against. `rivals`, `batch`, `startup` and `telemetry` compare with the floor that has the library.',
    'The rivals are installed in `bench/rivals`, apart, at exactly the versions of its lock; each does what its own loop does for one tool call, through what it exports.',
    ...benches,
  ].join('\n\n')
}

function place(bench: BenchSummary | undefined): string {
  if (bench === undefined) return ''
  const { machine, date } = bench
  return `Node ${machine.node.slice(1)}, ${machine.cores} cores (${machine.processor}), ${date}.`
}

/** On one line, since a page has few. */
function picture(name: 'rivals' | 'validation', folder: string): string {
  const words = { rivals: 'One call that does nothing, through each', validation: 'Checking valid args, by each' }
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.svg">`
  return `<picture>${dark}<img alt="${words[name]}" src="${folder}/${name}-light.svg"></picture>`
}

function tableOf({ title, unit, rows }: SummaryTable): string {
  const hasSpread = rows.some(([, , p10, p90]) => p10 !== p90)
  const hasRatio = rows.some(([, , , , ratio]) => ratio !== null)
  const shown = (figure: number | null): string => (figure === null ? '' : inUnit(figure, unit))
  const cells = rows.map(([name, median, p10, p90, ratio]) => [
    name,
    shown(median),
    ...(hasSpread ? [p10 === null ? '' : `${shown(p10)} … ${shown(p90)}`] : []),
    ...(hasRatio ? [ratio?.toPrecision(3) ?? ''] : []),
  ])
  const head = [title, hasSpread ? 'median' : '', ...(hasSpread ? ['p10 … p90'] : []), ...(hasRatio ? ['ratio'] : [])]
  return table(head, cells)
}

const marks: Readonly<Record<string, string>> = {
  refused: '✅ refused',
  runs: '✅ runs',
  'not taken': '⛔ not taken',
  'HANDLER RAN': '❌ handler ran',
  FAILS: '❌ fails',
  'runs twice': '❌ runs twice',
  held: '✅ held',
  MISSED: '❌ missed',
}

function marked({ head, cells }: Words): string {
  const lines = cells.map((line) => line.map((cell) => marks[cell] ?? cell))
  return table(head, lines, '---')
}

function table(head: readonly string[], cells: readonly (readonly string[])[], rule = '--:'): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : rule))), ...cells.map(line)].join('\n')
}

async function formatted(markdown: string): Promise<string> {
  return prettier.format(markdown, { parser: 'markdown', semi: false, singleQuote: true, printWidth: 120 })
}
