import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

interface Packed {
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

/** What npm would publish of what is built. */
function packed(): Packed {
  const parameters = ['pack', '--dry-run', '--ignore-scripts', '--json']
  const answer: unknown = JSON.parse(execFileSync('npm', parameters, { cwd: root, encoding: 'utf8', stdio: 'pipe' }))
  const [first] = Object.values(answer as Record<string, Packed>) // npm gives a list, or from some version on an object by name
  if (first === undefined) throw new Error('npm packed nothing.')
  return first
}

// What is built: `npm run build` builds it anew.
describe.runIf(existsSync(join(root, 'dist', 'index.js')))('the package, as it is published,', () => {
  const { unpackedSize, files } = packed()
  const paths = files.map(({ path }) => path)

  it('takes at most 7.29 MB, half of it the sources that pages link to', () => {
    expect(unpackedSize / 1e6).toBeLessThanOrEqual(7.29)
  })

  it('has no source maps, since `dist` is readable and `src` is there', () => {
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([])
  })

  it('has what programs load, and nothing of the workspace', () => {
    const folders = new Set(paths.map((path) => path.replace(/\/.*/, '')))
    const pages = ['CHANGELOG.md', 'LICENSE', 'README.md', 'llms.txt', 'package.json']
    expect([...folders].toSorted()).toEqual([...pages, 'dist', 'src', 'validators'].toSorted())
    expect(paths).toContain('dist/devtools/inspector/index.html')
  })
})

describe('a release', () => {
  it('is public, and says from which commit it was built', () => {
    const { publishConfig } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { publishConfig: unknown }
    expect(publishConfig).toEqual({ access: 'public', provenance: true })
    const workflow = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8')
    expect(workflow).toMatch(/^ {2}id-token: write$/m) // what the registry asks for a statement of provenance
    expect(workflow.indexOf('run: .ci/run')).toBeLessThan(workflow.indexOf('run: npm publish'))
  })
})
