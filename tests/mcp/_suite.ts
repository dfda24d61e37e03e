import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { parse } from 'yaml'
import { fileOf, program } from '../servers/installed.ts'

/** The revisions of the protocol whose requirements are frozen. */
export const revisions: readonly string[] = ['2025-11-25', '2026-07-28']

/** What the protocol's own suite found. */
export interface Findings {
  /** Whether everything that is required holds, what is expected to fail fails, and nothing else. */
  readonly conforms: boolean
  /** In words: the scenario, the check in it, and what was wrong. None if it conforms. */
  readonly failures: readonly string[]
  readonly output: string
}

interface Requirements {
  readonly client: readonly string[]
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[]
}

/** What the suite leaves of a scenario. */
interface Check {
  readonly id: string
  readonly description?: string
  readonly status: string
  readonly errorMessage?: string
  readonly details?: { readonly message?: unknown }
}

const expected = join(import.meta.dirname, 'expected-failures.yml')
const driver = join(import.meta.dirname, '_conformance-client.ts')
const client = `${process.execPath} --disable-warning=ExperimentalWarning -C @toolwright/source ${driver}`

// Each scenario of a client is two processes, which are busy from their start to their end.
const mostClients = 2
const waiting: (() => void)[] = []
let running = 0

function requirementsOf(revision: string): Requirements {
  const file = fileOf('@modelcontextprotocol/conformance', 'requirements', `${revision}.yaml`)
  return parse(readFileSync(file, 'utf8')) as Requirements
}

/** What the suite runs of one side without requiring it. */
function optionalOf(revision: string, side: 'server' | 'client'): string[] {
  const { not_scored: others } = requirementsOf(revision)
  return others.filter(({ leg }) => leg === side).map(({ scenario }) => scenario)
}

/** The scenarios that a revision has for clients, those that are not required included. */
export function scenariosOf(revision: string): string[] {
  return [...requirementsOf(revision).client, ...optionalOf(revision, 'client')]
}

/** Runs the suite against a server, as far as a revision requires it. */
export async function runServer(url: string, revision: string): Promise<Findings> {
  const known = parse(readFileSync(expected, 'utf8')) as { readonly server?: readonly string[] }
  const forgiven = new Set([...(known.server ?? []), ...optionalOf(revision, 'server')])
  return run(['server', '--url', url, '--requirements', revision, '--expected-failures', expected], (folder) =>
    checksIn(folder)
      .map(({ path, checks }) => ({ checks, scenario: path.replace(/^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$/g, '') }))
      .filter(({ scenario }) => !forgiven.has(scenario))
      .flatMap(({ scenario, checks }) => failuresOf(scenario, checks)),
  )
}

/**
 * Runs one scenario of the suite against a client; of all that are asked for, two at a time. Nothing is expected to fail: with
 * such a list the suite would take no notice of a client that ends with an error.
 *
 * @param command Starts the client. Default: ours.
 */
export async function runClient(scenario: string, revision: string, command: string = client): Promise<Findings> {
  if (running >= mostClients) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  const words = [
    '--command',
    command,
    '--scenario',
    scenario,
    '--spec-version',
    revision,
    '--force',
    '--timeout',
    '60000',
  ]
  try {
    return await run(['client', ...words], (folder) => {
      return checksIn(folder).flatMap(({ checks }) => failuresOf(scenario, checks))
    })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

async function run(words: readonly string[], failuresIn: (folder: string) => string[]): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-conformance-'))
  // The same few programs, many times.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'toolwright-compile-cache') }
  try {
    const child = spawn(process.execPath, [program('conformance'), ...words, '-o', folder], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    )
    return code === 0
      ? { conforms: true, failures: [], output }
      : { conforms: false, failures: [...failuresIn(folder), endOf(output, code)], output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function checksIn(folder: string): { readonly path: string; readonly checks: readonly Check[] }[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => name.endsWith('/checks.json'))
    .map((name) => ({
      path: name.slice(0, -'/checks.json'.length),
      checks: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Check[],
    }))
}

function failuresOf(scenario: string, checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, description, errorMessage, details }) => {
      const wrong = errorMessage ?? details?.message ?? description ?? 'the suite does not say what was wrong'
      return `${scenario}: ${id}: ${typeof wrong === 'string' ? wrong : JSON.stringify(wrong)}`
    })
}

/** How the suite ended, which no check tells of: of a client that failed although its checks hold, what it said last. */
function endOf(output: string, code: number | null): string {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return [`The suite ended with ${code}, and said last:`, ...lines.slice(-12)].join('\n    ')
}
