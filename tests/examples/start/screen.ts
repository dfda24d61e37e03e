import { styleText } from 'node:util'
import type { Facts } from './facts.ts'

const width = 100

type Style = Parameters<typeof styleText>[0]

/** Writes the facts as one screen. */
export function screenOf({ oneCall, badArgs, approval, largeResult, calls }: Facts, isColoured: boolean): string {
  const styled = (style: Style, text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text
  const heading = (text: string): string => `\n${styled('bold', text)}`
  const row = (label: string, text: string, style?: Style): string => {
    const fitting = shortened(text, width - 21)
    return `  ${styled('dim', label.padEnd(18))} ${style === undefined ? fitting : styled(style, fitting)}`
  }
  const callIds = new Set(oneCall.map(({ callId }) => callId))

  return [
    `${styled('bold', 'Toolwright')}: every call of every model goes through one pipeline. All of this ran just now.`,

    heading('1  The same call, as six providers send it, has one callId'),
    ...oneCall.map(({ format, args, callId }) => {
      const [text, kind] = typeof args === 'string' ? [args, 'text'] : [JSON.stringify(args), 'object']
      return row(format, `${text.padEnd(34)} ${styled('dim', kind.padEnd(7))} ${styled('cyan', brief(callId))}`)
    }),
    row(
      'so',
      `${callIds.size} callId for ${oneCall.length} messages: order, spaces and 3.0 for 3 do not count`,
      'green',
    ),

    heading('2  Bad args do not reach the handler, and the model reads what to correct'),
    row('the model sends', `transfer ${JSON.stringify(badArgs.args)}`),
    ...wrapped(badArgs.reads).map((line, index) => row(index === 0 ? 'the model reads' : '', line, 'red')),
    row('the handler', `${times(badArgs.handlerRuns)} (${badArgs.code})`),

    heading('3  A person is asked, and the call waits for the answer'),
    row('the model sends', `transfer ${JSON.stringify(approval.args)}`),
    row('status', `${approval.status}: “${approval.prompt}”; the handler ${times(approval.runsBefore)}`, 'yellow'),
    row(`${approval.decidedBy} answers`, approval.answer),
    row('status', `${approval.final}: “${approval.reads}”; the handler ${times(approval.runsAfter)}`, 'green'),

    heading(`4  A result of ${size(largeResult.bytes)} is shown as ${size(largeResult.shownBytes)}`),
    row('the model reads', `its beginning, and the handle ${largeResult.handle}`),
    row('the model searches', `lines with “${largeResult.pattern.trim()}”: artifact_grep`),
    row('the model reads', largeResult.found.split('\n')[0] ?? '', 'green'),

    heading('5  Each start has its end: calls by callId, their runs by invocationId'),
    styled('dim', `  ${['callId', 'tool', 'starts', 'ends', 'took', 'status'].map(inColumn).join('')}`),
    ...calls.map(({ callId, toolName, starts, ends, milliseconds, statuses }) => {
      const took = starts === 0 ? '–' : `${milliseconds.toFixed(1)} ms`
      const cells = [brief(callId), toolName, String(starts), String(ends), took, [...new Set(statuses)].join(', ')]
      return `  ${cells.map((cell, index) => styleOf(inColumn(cell, index), index)).join('')}`
    }),

    `\n${styled('dim', 'This story is tests/examples/start/facts.ts. Its facts as JSON: npm start -- --json')}`,
    `${styled('bold', 'Open next')}: README.md. Then make your own: npx toolwright init my-agent`,
  ].join('\n')

  function styleOf(cell: string, index: number): string {
    return index === 0 ? styled('cyan', cell) : cell
  }
}

const columns = [20, 16, 8, 8, 12, 0]

function inColumn(text: string, index: number): string {
  return text.padEnd(columns[index] ?? 0)
}

function brief(callId: string): string {
  return callId.slice(0, 12)
}

function times(runs: number): string {
  return runs === 0 ? 'did not run' : `ran ${runs === 1 ? 'once' : `${runs} times`}`
}

function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${Math.round(bytes / 1_000_000)} MB`
}

/** Breaks a text between words. */
function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart()
    if (line.length <= width - 21) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}

/** Cuts what is too long for the screen. Styles take no place, so text with them has to fit. */
function shortened(text: string, longest: number): string {
  return text.length <= longest || text.includes('\u001b') ? text : `${text.slice(0, longest - 1)}…`
}
