// Renders what the pages show from the summary: nothing in it is written by hand, and a test compares the two.
import prettier from 'prettier'
import { chart, type Bar, type Theme } from './_chart.ts'
import { inUnit, type Words } from './_results.ts'
import { benches, legendOf, questionOf } from './_question.ts'
import type { BenchSummary, Summary, SummaryRow, SummaryTable } from './_summary.ts'

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
  const cells = names.map((name) => [`\`${name}\``, ...tables.map((of) => rowOf(of, name)?.[4]?.toPrecision(2) ?? '')])
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

/** Returns what was measured of a variant. */
function rowOf(of: SummaryTable | undefined, name: string): SummaryRow | undefined {
  return of?.rows.find(([other]) => other === name)
}

/** The variants whose figures the front page has. */
const shownVariants = ['direct call', 'whole pipeline', '… one policy, one observer', '… and a journal in memory']
const shownValidators = ['zod', 'z.compile', 'arktype()', 'typebox()']

/** Our own figures, those of validators, and the way to all others. */
function lineOf({ overhead, validation }: Summary): string {
  const ours = overhead?.tables[0]?.rows.filter(([name]) => shownVariants.includes(name)) ?? []
  const words = (name: string): string => name.replace('… and ', 'and ').replace('… ', 'with ')
  const figures = ours.map(([name, , , , ratio]) => `${words(name)} ${ratio?.toFixed(2)}`).join(', ')
  const checks = tableAt(validation, 'valid input, 338')?.rows.filter(([name]) => shownValidators.includes(name)) ?? []
  const times = checks.map(([name, median]) => `\`${name}\` ${Math.round(median ?? NaN)}`).join(', ')
  const page = `${published}/blob/main/bench/README.md`
  const validators = `[Validators](${page}#what-does-a-validator-cost), ns: ${times}.`
  return `What a call costs, if its steps by hand cost 1: ${figures}. ${validators} [All figures](${page}).`
}

/** What three questions of those who choose come to, then all figures of all benches. */
function pageOf(summary: Summary): string {
  const topics = Object.entries(summary).map(([name, bench]) => {
    const question = questionOf(name)
    const tables = [...bench.words.map(marked), ...bench.tables.map(tableOf)].join('\n\n')
    const run = `\`npm run bench ${name}\`, ${place(bench)}`
    const parts = [`<summary><b>${name}</b>: ${question}</summary>`, run, legendOf(name), tables, '</details>']
    return `<details>\n${parts.filter((part) => part !== '').join('\n\n')}`
  })
  const unmeasured = benches.filter((name) => summary[name] === undefined)
  if (unmeasured.length > 0) {
    const lines = unmeasured.map((name) => `- \`npm run bench ${name}\`: ${questionOf(name)} ${legendOf(name)}`)
    topics.push(`<details>\n<summary>Not measured yet</summary>\n\n${lines.join('\n')}\n\n</details>`)
  }
  return [
    '# Benches',
    '<!-- This page is written by `npm run bench:report` from bench/summary.json. -->',
    'Three answers for those who choose come first. A **ratio** compares with the first line, in one process: it holds on other machines. A time is that of one machine on one day.',
    ...costOfValidators(summary['validation']),
    ...costBesideOthers(summary['rivals']),
    ...refusals(summary['rivals-validation']),
    '## All figures',
    [
      '- `npm run bench` lists what there is to measure, `npm run bench <name>` measures it and prints a table, `npm run bench all` measures everything. `npm run bench -- <name> --quick` takes fewer rounds, and keeps no figures.',
      '- `npm run bench -- --against <commit> [name]` compares the working tree with another commit, in processes that alternate.',
      '- `npm run bench:report` writes this page, the charts and a line of the front page from what was measured last.',
    ].join('\n'),
    'Variants of one question are measured in one process, interleaved, in alternating order. What happens once in a process (loading, the first call) is measured in fresh ones. If a figure has no spread, it is a size or a count, the same on every machine.',
    'The **floor** is the least that a call can cost which is checked and identified: Zod, the library `canonicalize`, SHA-256, the handler and two events, by hand. The **tight floor** has a canonical writer of twenty lines in place of the library. It knows that it is given a plain tree, and checks nothing: a kernel that takes args from strangers cannot use it. `overhead` measures both, and its ratios are to the tight floor. `rivals`, `batch`, `startup` and `telemetry` compare with the floor that has the library.',
    ...topics,
  ].join('\n\n')
}

/** What a validator costs. */
function costOfValidators(bench: BenchSummary | undefined): readonly string[] {
  const titles = ['valid input, 338', 'invalid input', 'from nothing', 'valid input, hot, where no code']
  const tables = titles.map((title) => tableAt(bench, title))
  const [valid, , , codeless] = tables
  const names = valid?.rows.map(([name]) => name) ?? []
  const timeOf = (of: SummaryTable | undefined, name: string): number => rowOf(of, name)?.[1] ?? NaN
  const cells = names.map((name) => [
    name.includes(' ') ? name : `\`${name}\``,
    ...tables.map((of) => inUnit(timeOf(of, name)) || 'cannot'),
  ])
  const zod = timeOf(valid, 'zod')
  const compiled = (zod / timeOf(valid, 'z.compile')).toFixed(1)
  const [fastest = '', fastestTime = NaN] = leastOf(valid, (name) => name.endsWith('()'))
  const [codelessName = ''] = leastOf(codeless, (name) => name.endsWith('()'))
  return [
    '## What does a validator cost?',
    picture('validation', 'charts'),
    `**Keep the library that you like**: Zod takes ${inUnit(zod)} for args of 338 bytes. If that is much for you, \`z.compile\` makes the same schema ${compiled} times as fast. The fastest is \`${fastest}\` (${inUnit(fastestTime)}), but look at its first answer. If your platform makes no code from text, as Cloudflare Workers, it is \`${codelessName}\`.`,
    table(['', 'valid args', 'invalid args', 'first answer of a process', 'valid, no code from text'], cells),
    'Names with brackets are the wrappers of this package. *Alone* means that the library says only yes or no: it names no issue, so a model could not correct its args. `ajv()` and `ajv, alone` have the same options.',
    `\`npm run bench validation\`, ${place(bench)}`,
  ]
}

/** Returns the variant that takes least, and its median. */
function leastOf(of: SummaryTable | undefined, isMeant: (name: string) => boolean): readonly [string, number] | [] {
  const rows =
    of?.rows.flatMap(([name, median]) => (median !== null && isMeant(name) ? [[name, median] as const] : [])) ?? []
  return rows.toSorted(([, one], [, other]) => one - other)[0] ?? []
}

/** What one call costs through this package and through others. */
function costBesideOthers(bench: BenchSummary | undefined): readonly string[] {
  const [idle, real] = ['a call that does nothing', '2 ms of work'].map((title) => tableAt(bench, title))
  const features = bench?.words[0]
  const figure = (of: SummaryTable | undefined, name: string): string => {
    const median = rowOf(of, name)?.[1] ?? null
    return median === null ? '' : inUnit(median)
  }
  const cells = features?.cells.map((line) => [...line, figure(idle, line[0] ?? ''), figure(real, line[0] ?? '')]) ?? []
  return [
    '## What does a call cost, beside other packages?',
    picture('rivals', 'charts'),
    'A call that **does nothing** shows what a package adds at least. The last column is a call with **2 ms of work and a result of 10 kB**: what the processor does beyond the handler. Compare packages that do the same: one that neither checks nor records is fast because of that.',
    table([...(features?.head ?? []), 'does nothing', '10 kB after 2 ms'], cells),
    'Each package is installed at the version of the table, apart from this one, and does what its own loop does for one tool call, through what it exports.',
    `\`npm run bench rivals\`, ${place(bench)}`,
  ]
}

/** Who runs a handler with args that its schema refuses. */
function refusals(bench: BenchSummary | undefined): readonly string[] {
  const others = bench?.words[0]?.cells.filter(([name]) => name !== 'toolwright') ?? []
  const trusting = others.filter((line) => line.includes('HANDLER RAN'))
  return [
    '## Who runs a handler with wrong args?',
    `A tool takes a number, and the model sends text. **${trusting.length} of ${others.length} other packages run the handler** with one kind of schema or another. None says so: ask with the schemas that you use.`,
    ...(bench?.words.map(marked) ?? []),
    `\`npm run bench rivals-validation\`, ${place(bench)}`,
  ]
}

function place(bench: BenchSummary | undefined): string {
  if (bench === undefined) return ''
  const { machine, date, seconds } = bench
  const time = seconds === undefined ? '' : ` It takes about ${seconds} s.`
  return `Node ${machine.node.slice(1)}, ${machine.cores} cores (${machine.processor}), ${date}.${time}`
}

/** On one line, since a page has few. */
function picture(name: 'rivals' | 'validation', folder: string): string {
  const words = { rivals: 'One call that does nothing, through each', validation: 'Checking valid args, by each' }
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.svg">`
  return `<picture>${dark}<img alt="${words[name]}" src="${folder}/${name}-light.svg"></picture>`
}

function tableOf({ title, unit, rows }: SummaryTable): string {
  const hasSpread = rows.some(([, , p10, p90]) => p10 !== p90)
  const hasRatio = rows.some(([, , , , ratio]) => ratio !== null && ratio !== 1) // the first is compared with itself
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
  held: '✅ met',
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
