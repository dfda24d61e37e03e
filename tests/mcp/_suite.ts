import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from '../servers/installed.ts'

/** The revisions of the protocol whose requirements are frozen. */
export const revisions: readonly string[] = ['2025-11-25', '2026-07-28']

/** What the protocol's own suite found. */
export interface Findings {
  /** 0 where everything that is required holds, what is expected to fail fails, and nothing else. */
  readonly code: number | null
  readonly output: string
  /** What does not hold, beside what has to fail, by scenario. */
  readonly failures: readonly string[]
}

const expectedFailures = join(import.meta.dirname, 'expected-failures.yml')

/**
 * Runs the suite against a server or a client, as far as a revision requires it.
 *
 * @param target Of a server its address, of a client the command that starts it.
 */
export async function runSuite(role: 'server' | 'client', target: string, revision: string): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-conformance-'))
  // The clients of all scenarios start at once, each in a process of its own.
  const where = role === 'server' ? ['--url', target] : ['--command', target, '--timeout', '120000']
  const words = [role, ...where, '--requirements', revision, '--expected-failures', expectedFailures, '-o', folder]
  try {
    const child = spawn(process.execPath, [program('conformance'), ...words], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    )
    return { code, output, failures: failuresIn(folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function failuresIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('checks.json'),
  )
  return files.flatMap((name) => {
    const checks = JSON.parse(readFileSync(join(folder, name), 'utf8')) as readonly {
      readonly id: string
      readonly status: string
      readonly errorMessage?: string
    }[]
    return checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, errorMessage }) => `${name.split('/').at(-2)}: ${id}: ${errorMessage}`)
  })
}
