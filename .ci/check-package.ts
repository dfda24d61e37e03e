// Packs the package as it would be published, and asks publint and attw about it; attw has to be told the entries that
// the wildcards of `exports` stand for.
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const leaves = globSync(['src/{formats,journals,middleware,observers,policies,stores}/*.ts', 'validators/*.ts'])
  .filter((file) => !/(^|\/)_/.test(file))
  .map((file) => `./${file.replace(/^src\//, '').replace(/\.ts$/, '')}`)

function run(command: string, ...parameters: string[]): string {
  return execFileSync(command, parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

const folder = mkdtempSync(join(tmpdir(), 'toolwright-package-'))
try {
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', folder)) as [
    { filename: string },
  ]
  const tarball = join(folder, filename)
  process.stdout.write(run('npx', 'publint', 'run', tarball, '--strict'))
  process.stdout.write(
    run('npx', 'attw', tarball, '--profile', 'esm-only', '--no-color', '--entrypoints', '.', ...leaves),
  )
} finally {
  rmSync(folder, { recursive: true })
}
