// The protocol's own suite against our client: every scenario of both frozen sets, those that are run without being
// required included, one process each.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { fileOf, missing, program } from '../servers/installed.ts'

const folder = import.meta.dirname
const driver = join(folder, '_conformance-client.ts')
const command = `${process.execPath} --disable-warning=ExperimentalWarning -C @toolwright/source ${driver}`

if (missing !== undefined) console.warn(`The conformance of the client is not tested: ${missing}`)

interface Requirements {
  readonly client: readonly string[]
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[]
}

/** What a revision runs of a client. */
function scenariosOf(revision: string): string[] {
  if (missing !== undefined) return ['not installed']
  const file = fileOf('@modelcontextprotocol/conformance', 'requirements', `${revision}.yaml`)
  const { client, not_scored: others } = parse(readFileSync(file, 'utf8')) as Requirements
  return [...client, ...others.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario)]
}

async function conformance(revision: string, scenario: string): Promise<{ code: number | null; output: string }> {
  const results = mkdtempSync(join(tmpdir(), 'toolwright-conformance-'))
  const words = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision, '--force']
  const rest = ['--timeout', '60000', '--expected-failures', join(folder, 'expected-failures.yml'), '-o', results]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'toolwright-compile-cache') } // the same few programs, many times
  const child = spawn(process.execPath, [program('conformance'), ...words, ...rest], { cwd: results, env })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  rmSync(results, { recursive: true, force: true })
  return { code, output }
}

describe.skipIf(missing !== undefined).concurrent.each(['2025-11-25', '2026-07-28'])(
  'a client of %s holds',
  (revision) => {
    test.each(scenariosOf(revision))(
      '%s',
      async (scenario) => {
        const { code, output } = await conformance(revision, scenario)
        expect(output).toContain('Test Results') // it was run, and not passed over
        expect(code, output.slice(-4_000)).toBe(0)
      },
      120_000,
    )
  },
)
