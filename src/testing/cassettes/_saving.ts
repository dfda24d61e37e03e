import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { InvalidConfigurationError } from '../../errors.ts'
import { readText } from '../../kernel/json/json-text.ts'
import type { RecordedCall, TapeHead } from './_recorded.ts'

/** Writes a tape as a whole, so that an interruption leaves the former one. */
export function saveTape(
  path: string,
  head: TapeHead,
  calls: readonly RecordedCall[],
  redact?: (text: string) => string,
): void {
  const lines = [JSON.stringify(head), ...calls.map(lineOfCall)].map((line) => redactedLine(line, redact))
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    writeFileSync(draft, `${lines.join('\n')}\n`)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Returns the text of a line. A file that was not recorded is left out. */
export function lineOfCall(call: RecordedCall): string {
  const attempts = call.attempts.map(({ steps, ...rest }) => ({
    ...(steps && { steps: steps.filter((step) => !('keep' in step) || step.keep !== '') }),
    ...rest,
  }))
  const text = JSON.stringify({ ...call, attempts })
  return text.includes('"__proto__"') ? JSON.stringify({ ...call, attempts }, withoutPrototype) : text
}

function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

function redactedLine(line: string, redact: ((text: string) => string) | undefined): string {
  const redacted = redact === undefined ? line : redact(line)
  if (redacted === line) return line
  try {
    const json = readText(redacted) as { readonly result?: { byteLength?: number } }
    delete json.result?.byteLength // it was that of the other text
    return JSON.stringify(json)
  } catch {
    throw new InvalidConfigurationError(
      'The option `redact` of a cassette made a line that is no JSON. Replace what stands within quotes, and nothing else.',
    )
  }
}
