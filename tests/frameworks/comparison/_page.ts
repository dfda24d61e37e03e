// Writes what was measured as a page. Every cell is made here, by the same rule for every package.
import prettier from 'prettier'
import type { Ending, Late, Outcome } from './_facts.ts'
import type { Row } from './_run.ts'
import { large } from './_scene.ts'

/** How long a cell may be. */
const width = 86

interface Section {
  readonly title: string
  readonly text: string
  readonly cell: (row: Row) => string
}

const sections: readonly Section[] = [
  {
    title: 'Args that do not fit',
    text: 'The schema wants a number of cents. The model sends `{ "cents": "five" }`. Does the handler run?',
    cell: ({ wrongArgs }) => outcome(wrongArgs),
  },
  {
    title: 'A tool that is not there',
    text: 'The model calls `refund`, which is not among the tools.',
    cell: ({ unknownTool }) => textOf('', unknownTool.ending),
  },
  {
    title: 'A large result',
    text: `A handler returns ${large.toLocaleString('en')} bytes of text. How many bytes does the model read?`,
    cell: ({ large: { bytes, tools } }) => {
      const rest =
        tools.length === 0 ? '' : `, and it is offered ${count(tools.length, 'tool')} for the rest: \`${tools[0]}\``
      return `${bytes.toLocaleString('en')}${rest}${tools.length > 1 ? ', …' : ''}`
    },
  },
  {
    title: 'The same call again',
    text:
      'A call with the same id and the same args comes twice: in one turn of the model, in two turns, and since the application ' +
      'sends the whole request again. How often does the handler run?',
    cell: ({ repeated: { oneTurn, twoTurns, again } }) => {
      const text = `One turn: ${oneTurn.runs}. Two turns: ${twoTurns.runs}. Sent again: ${again.runs}.`
      return oneTurn.runs > 0 ? text : textOf(text, oneTurn.ending)
    },
  },
  {
    title: 'A handler that ignores its time limit',
    text: 'The limit is 100 ms. The handler does not look at its signal, and does not return. A run “still waits” if it is not over after 3 s.',
    cell: ({ timeout }) =>
      timeout === undefined ? 'No such feature: its tools declare no time limit.' : late(timeout),
  },
  {
    title: 'A handler that ignores its caller',
    text: 'The caller aborts the run. The handler does not look at its signal, and does not return.',
    cell: ({ abort }) => late(abort),
  },
  {
    title: 'An approval',
    text:
      'A person has to allow the call. The process is killed while the person thinks. Another process goes on with what was ' +
      'stored, and is given the answer: yes. Then it is given the same answer again.',
    cell: ({ approval: { before, first, second } }) => {
      const more = second.runs - first.runs
      const again = second.ending.is === 'thrown' ? 'refused' : count(more, 'more run')
      const text = `Before the answer: ${count(before, 'run')}. With it: ${count(first.runs, 'run')}. The answer again: ${again}.`
      return first.runs > 0 ? text : textOf(text, first.ending)
    },
  },
  {
    title: 'A process that is killed while a handler runs',
    text:
      'Is the call found where the package stores what it knows? Another process goes on: as the package says, if it says how, ' +
      'and else with the same request. Does the handler run again, though the first run may have done its work?',
    cell: ({ isStored, killed }) => {
      const stored = isStored === undefined ? 'Has no store.' : isStored ? 'Stored.' : 'Not stored.'
      if (killed.runs > 1) return `${stored} Runs again: yes.`
      return textOf(`${stored} Runs again: no.`, killed.ending)
    },
  },
]

function outcome({ runs, ending }: Outcome): string {
  return textOf(runs === 0 ? 'No.' : `Yes, ${count(runs, 'time')}.`, ending)
}

function late({ ending, isHandlerTold }: Late): string {
  const signal = isHandlerTold ? 'is aborted' : 'is not aborted'
  if (ending.is === 'waits') return `The run still waits for the handler. The handler’s signal ${signal}.`
  return textOf('', ending)
}

/** What was told, cut so that the cell is no longer than it may be. */
function textOf(before: string, ending: Ending): string {
  if (ending.is === 'waits') return `${before} The run still waits.`.trim()
  const lead = ending.is === 'told' ? 'The model reads:' : 'The application gets:'
  const start = `${before} ${lead} `.trimStart()
  const words = ending.words
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/elapsed: \d+ms/g, 'elapsed: …')
    .trim()
  if (words === '') return `${before} The model reads nothing.`.trim()
  const most = Math.max(width - start.length - 2, 24)
  const cut = words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words
  return `${start}\`${cut.replaceAll('`', "'").replaceAll('|', '\\|')}\``
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const intro = `# What happens in other packages, and here

You call a model, and it calls tools. This page shows what comes of eight situations in the packages that you may know, and in
Toolwright. Read the versions: other releases may do otherwise.

**How it was measured.** A script runs each package as it is installed, through what it exports. The model is a double that says
which calls to make: it costs nothing, and says the same each time. Every package gets the same three tools and the same calls. A
handler notes each run in a file. Every cell is made from these notes and from what the model or the application was given, by one
rule for all; no cell is written by hand. If a package documents an option for a question, the option is set: the last section says
which. A process is killed with \`SIGKILL\`, so that it can do nothing more.

Toolwright has no loop of its own. Here its tools run in the loop of the AI SDK, so that you see what they change; the loop itself
answers for a tool that is not there.

Run it yourself, in a clone. It takes less than a minute, and the tests fail if this page says anything else:

\`\`\`sh
npm ci && npm ci --omit=optional --prefix tests/frameworks/npm
npm run comparison
\`\`\`
`

/** The page, as it stands in the sources. */
export function pageOf(rows: readonly Row[]): Promise<string> {
  const parts = sections.map(({ title, text, cell }) => {
    return `## ${title}\n\n${text}\n\n${table(
      ['Package', 'What happened'],
      rows.map((row) => [row.name, cell(row)]),
    )}`
  })
  const uses = rows.map(({ name, versions, uses: used, beside }) => {
    return `- **${name}** (${versions.map((each) => `\`${each}\``).join(', ')}): ${used}. Not measured: ${beside}.`
  })
  const last = [
    '## What was used, and what was not measured',
    'A package is no worse for what it leaves to you. Most of these are loops, and MCP is a protocol: stores, limits and records ' +
      'may come from other packages, which are not installed here. If a store is an interface, the script writes to a file behind it.',
    uses.join('\n'),
  ]
  const text = [intro.trimEnd(), ...parts, ...last].join('\n\n')
  return prettier.format(text, { parser: 'markdown', printWidth: 120 })
}
