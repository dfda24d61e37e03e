import { existsSync, readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import * as door from 'toolwright'

const floors = [
  'bounded canonical content copy errors failure infer json-block json-text mask nearest pace parse standard text thenable uncanonical written',
  'artifact artifact-argument artifact-kinds call definition events fingerprint fold line-index memory-reader memory-store name-owners object-schema parcel pause ports record registry schema shelf tool-fields tool-options',
  'approval compose consult context deadline drain in-flight keeping kept-record outcome patience perform ledger preview product pump settlement spooling stored-content telling stages/*',
  'assemble batch direct executor passage recall recover resume tool',
].map((names) => names.split(' '))

// What holds results is on these floors too, and has a wall of its own.
const artifacts =
  'artifact artifact-argument artifact-kinds line-index memory-reader memory-store preview product shelf spooling'.split(
    ' ',
  )

const kernel = globSync('src/kernel/**/*.ts')
const attic = ['cli', 'mcp']
const leaves = globSync(['src/*/**/*.ts', 'validators/**/*.ts'], {
  ignore: ['src/kernel/**', 'src/platform/**', ...attic.map((family) => `src/${family}/**`)],
})
const sources = globSync(['src/**/*.ts', 'validators/**/*.ts'])
const stages = ['resolve', 'identify', 'validate', 'authorize', 'confirm', 'run', 'check', 'spool', 'settle']

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

/** A file without its comments, as far as they stand on lines of their own. */
function codeOf(file: string): string {
  const lines = read(file)
    .replace(/^\s*\/\*[^]*?\*\/\s*$/gm, '')
    .split('\n')
  return lines.filter((line) => !/^\s*($|\/\/)/.test(line)).join('\n')
}

function codeLines(file: string): number {
  return codeOf(file).split('\n').length
}

/** What a file imports, values and types alike. */
function importsOf(file: string): string[] {
  return [...codeOf(file).matchAll(/(?:^import |^\}? ?from |^(?:import|export) .* from |import\()'([^']+)'/gm)].map(
    (match) => match[1] ?? '',
  )
}

function kernelName(file: string): string {
  return file.replace('src/kernel/', '').replace('.ts', '')
}

function floorOf(name: string): number {
  return floors.findIndex((names) => names.includes(name) || (name.startsWith('stages/') && names.includes('stages/*')))
}

/** The kernel file that a relative import means. */
function target(file: string, specifier: string): string {
  return kernelName(new URL(specifier, `file:///${file}`).pathname.slice(1))
}

describe('the kernel', () => {
  it.each(kernel)('%s has a floor, and imports nothing from above it', (file) => {
    const floor = floorOf(kernelName(file))
    expect(floor).toBeGreaterThanOrEqual(0)
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      expect(floorOf(target(file, specifier)), `${file} imports ${specifier}`).toBeLessThanOrEqual(floor)
    }
  })

  it.each(kernel)('%s imports no package and nothing of a platform', (file) => {
    const foreign = importsOf(file).filter(
      (name) => !name.startsWith('.') && name !== '#sha256' && name !== '#json-schema',
    )
    expect(foreign).toEqual(file === 'src/kernel/schema/standard.ts' ? ['@standard-schema/spec'] : [])
  })

  it.each(kernel.filter((file) => file.includes('/stages/')))('%s imports no other stage', (file) => {
    expect(importsOf(file).filter((name) => name.startsWith('./'))).toEqual([])
  })

  it('has its stages in the order in which a call walks them', () => {
    const passage = /^export async function execute\([^]*?^}/m.exec(read('src/kernel/passage.ts'))?.[0] ?? ''
    const calls = [...passage.matchAll(/(?:return|=) (?:await )?(\w+)\(\w+, kernel\)/g)]
    expect(calls.map((match) => match[1])).toEqual(stages)
    const diagram = [...read('README.md').matchAll(/^ToolCall ─▶.*$/gm)].map((match) => match[0])[0] ?? ''
    const drawn = diagram.split('─▶').map((part) => part.replace(/[[\]]|middleware|▸/g, '').trim())
    expect(drawn.slice(1, -1)).toEqual(stages)
  })
})

describe('the walls', () => {
  it.each(kernel)('%s is within its wall', (file) => {
    if (file === 'src/kernel/schema/infer.ts') return
    expect(codeLines(file)).toBeLessThanOrEqual(file.includes('/stages/') ? 70 : 300)
  })

  const counted = (files: readonly string[]): number =>
    files.filter((file) => file !== 'src/kernel/schema/infer.ts').reduce((sum, file) => sum + codeLines(file), 0)

  it.each(floors.map((_, floor) => floor))(
    'hold floor %i of the kernel to 2,000 lines without its artifacts',
    (floor) => {
      const files = kernel.filter((file) => floorOf(kernelName(file)) === floor)
      expect(counted(files.filter((file) => !artifacts.includes(kernelName(file))))).toBeLessThanOrEqual(2_000)
    },
  )

  it('hold the artifacts of the kernel to 1,300 lines', () => {
    expect(counted(kernel.filter((file) => artifacts.includes(kernelName(file))))).toBeLessThanOrEqual(1_300)
  })

  it.each(sources)('%s has at most 300 lines, a leaf 250', (file) => {
    expect(codeLines(file)).toBeLessThanOrEqual(leaves.includes(file) && !file.includes('/_') ? 250 : 300)
  })
})

describe('the sources', () => {
  it.each(sources)('%s exports name by name', (file) => {
    expect(read(file)).not.toMatch(/^export \*/m)
  })

  it.each(sources.filter((file) => !file.startsWith('src/cli/')))(
    '%s makes no controller, timer or random value while it loads',
    (file) => {
      // Workers refuse these at module scope; inside functions every line is indented.
      expect(read(file)).not.toMatch(
        /^(?:export )?(?:const|let) .*(?:new AbortController|setTimeout|setInterval|randomUUID|getRandomValues)\(/m,
      )
    },
  )

  it.each(leaves)('%s enters by the door, and imports its own family alone', (file) => {
    const family = file
      .split('/')
      .slice(0, file.startsWith('src/') ? 2 : 1)
      .join('/')
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      const path = new URL(specifier, `file:///${file}`).pathname.slice(1)
      const isTypeOfTheFloor = path === 'src/kernel/schema/standard.ts' && file.includes('/_')
      expect(
        path === 'src/index.ts' || path.startsWith(`${family}/`) || isTypeOfTheFloor,
        `${file} imports ${specifier}`,
      ).toBe(true)
    }
  })
})

describe('the package', () => {
  const manifest = JSON.parse(read('package.json')) as {
    readonly files: readonly string[]
    readonly scripts: Readonly<Record<string, string>>
    readonly repository: { readonly url: string }
    readonly homepage: string
    readonly bugs: string
  }

  it('has no script that whoever installs it is asked about', () => {
    const asked = ['preinstall', 'install', 'postinstall', 'prepare']
    expect(Object.keys(manifest.scripts).filter((name) => asked.includes(name))).toEqual([])
    expect(manifest.scripts).toMatchObject({ prepack: manifest.scripts['build'] })
  })

  it('says where its sources are, and where bugs are told', () => {
    const page = /^git\+(https:.*)\.git$/.exec(manifest.repository.url)?.[1]
    expect(manifest).toMatchObject({ homepage: `${page}#readme`, bugs: `${page}/issues` })
  })

  it.each(globSync(['README.md', 'CHANGELOG.md', 'src/**/*.md', 'validators/**/*.md']))(
    '%s has no link to what the package does not carry',
    (page) => {
      const links = [...read(page).matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)]
      const paths = links
        .map(([, link = '', source = '']) => link + source)
        .filter((link) => !/^(?:https:|#)/.test(link))
        .map((link) => new URL(link, `file:///${page}`).pathname.slice(1))
      const dead = paths.filter((path) => !existsSync(path) || !manifest.files.includes(path.split('/')[0] ?? ''))
      expect(dead).toEqual([])
    },
  )
})

describe('the door', () => {
  it('exports these names and no other', () => {
    expect(Object.keys(door).toSorted()).toMatchSnapshot()
  })
})
