/**
 * The first ten calls, as a story of one screen.
 *
 *   npm start
 *   npm start -- --json
 */
import process from 'node:process'
import { parseArgs, stripVTControlCharacters, styleText } from 'node:util'
import { facts } from './facts.ts'
import { screenOf } from './screen.ts'

try {
  const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
  const happened = await facts()
  // Node knows whether the stream is a terminal, and reads NO_COLOR and FORCE_COLOR.
  const probe = styleText('bold', 'x', { stream: process.stdout })
  const isColoured = probe !== stripVTControlCharacters(probe)
  process.stdout.write(`${values.json === true ? JSON.stringify(happened, null, 2) : screenOf(happened, isColoured)}\n`)
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')) throw error
  process.stderr.write(`${error.message}\nnpm start takes one option: npm start -- --json\n`)
  process.exitCode = 2
}
