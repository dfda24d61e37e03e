// Names that resolve to private addresses, as the resolver of this machine gives them: a sandbox has a file of hosts of its own.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { missing } from '../servers/bubblewrap.ts'

if (missing !== undefined) console.warn(`No names are resolved to private addresses: ${missing}`)

const publicHost = 'public.example.com'
const addresses: Readonly<Record<string, string>> = {
  'ten.example.com': '10.0.0.1',
  'loopback.example.com': '127.0.0.1',
  'metadata.example.com': '169.254.169.254',
  'home.example.com': '192.168.1.1',
  'six.example.com': 'fd00::1',
  'mapped.example.com': '::1',
  [publicHost]: '93.184.215.14',
}

/** The command that runs a program as this one is run. */
function commandOf(program: string): string[] {
  const conditions = '--conditions=@toolwright/source'
  const isDeno = 'Deno' in globalThis
  return [process.execPath, ...(isDeno ? ['run', '-A', '--no-check', conditions] : [conditions]), program]
}

test.skipIf(missing !== undefined)('a name that resolves to a private address is sent nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-names-'))
  const file = join(folder, 'hosts')
  writeFileSync(
    file,
    Object.entries(addresses)
      .map(([name, address]) => `${address} ${name}\n`)
      .join(''),
  )
  const command = commandOf(join(import.meta.dirname, '_named-hosts.ts'))
  const sandboxed = ['--dev-bind', '/', '/', '--ro-bind', file, '/etc/hosts', ...command]
  const { stdout } = await promisify(execFile)('bwrap', [...sandboxed, publicHost, ...Object.keys(addresses)])
  rmSync(folder, { recursive: true })
  const refused = Object.keys(addresses).map((name) => [
    name,
    name === publicHost ? ['ok', 'completed', [publicHost], false] : ['error', 'none', [], true],
  ])
  expect(JSON.parse(stdout)).toEqual({
    ...Object.fromEntries(refused),
    redirect: ['ok', 'completed', [publicHost, publicHost], false],
  })
})
