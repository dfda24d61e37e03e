import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as door from 'toolwright'
import * as compatDoor from 'toolwright/compat'
import * as errorsDoor from 'toolwright/errors'
import * as extensionDoor from 'toolwright/extension'
import { bytesOf, walls } from './walls.ts'

// The rooms of the kernel from the ground up. A room imports from those below it, and the errors, which lie under all of them.
const rooms = ['json', 'schema', 'result', 'tool', 'call', 'outcome', 'run', 'stages', 'kernel']
const ground = 'src/kernel/errors.ts'
// The contracts between the rooms. A room may import their types from above it, and nothing that runs.
const contracts = [
  'call/context-types',
  'call/events',
  'executor-context',
  'executor-types',
  'kernel',
  'ports',
  'recorder',
].map((name) => `src/kernel/${name}.ts`)
/** How many files may import each other in a circle, types alone among them. It only goes down. */
const largestCircle = 9
/** The files that may see all of the kernel: the executor, what makes it, and the stages. */
const kernelHolders = ['assemble', 'calls', 'direct', 'evaluate', 'executor', 'kernel', 'pipeline']
const frontDoors = ['index', 'errors', 'extension'].map((name) => `src/${name}.ts`)
const wings = ['records', 'approvals', 'redaction', 'spool']

const kernel = globSync('src/kernel/**/*.ts')
const attic = ['cli', 'conformance', 'devtools', 'distributed', 'frameworks', 'mcp', 'react', 'testing']
const wingFiles = globSync(wings.map((wing) => `src/${wing}/**/*.ts`))
const leaves = globSync(['src/*/**/*.ts', 'validators/**/*.ts'], {
  ignore: ['kernel', 'platform', 'extension', ...wings, ...attic].map((family) => `src/${family}/**`),
})
const sources = globSync(['src/**/*.{ts,tsx}', 'validators/**/*.ts'])
const stages = ['resolve', 'identify', 'validate', 'authorize', 'confirm', 'admit', 'run', 'check', 'spool', 'settle']

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

/** The room of a file of the kernel; the files beside the rooms are the top floor. */
function roomOf(file: string): string {
  const [, room = ''] = /^src\/kernel\/(?:(\w+)\/)?/.exec(file) ?? []
  return room === '' ? 'kernel' : room
}

/** The files that a file imports, by their paths. */
function neighboursOf(file: string): string[] {
  return pathsOf(importsOf(file), file)
}

/** The files of which a file imports types alone. */
function typesOf(file: string): string[] {
  const imports = [...codeOf(file).matchAll(/^(?:import|export) type [^']*from '([^']+)'/gm)]
  return pathsOf(
    imports.map((match) => match[1] ?? ''),
    file,
  )
}

function pathsOf(specifiers: readonly string[], file: string): string[] {
  return specifiers
    .filter((name) => name.startsWith('.'))
    .map((specifier) => new URL(specifier, `file:///${file}`).pathname.slice(1))
}

/** The largest set of files of which each imports each other, over any number of steps. */
function circleOf(files: readonly string[]): readonly string[] {
  const reached = new Map<string, Set<string>>()
  for (const file of files) {
    const seen = new Set<string>()
    const next = [file]
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      for (const path of neighboursOf(at)) {
        if (!files.includes(path) || seen.has(path)) continue
        seen.add(path)
        next.push(path)
      }
    }
    reached.set(file, seen)
  }
  const circles = files.map((file) => [...(reached.get(file) ?? [])].filter((path) => reached.get(path)?.has(file)))
  return circles.reduce((largest, circle) => (circle.length > largest.length ? circle : largest), [])
}

describe('the kernel', () => {
  it.each(kernel)('%s stands in a room, and imports from its own room and those below', (file) => {
    const floor = file === ground ? rooms.indexOf('schema') : rooms.indexOf(roomOf(file))
    expect(floor).toBeGreaterThanOrEqual(0)
    const types = typesOf(file)
    for (const path of neighboursOf(file)) {
      if (path === ground || (contracts.includes(path) && types.includes(path))) continue
      // A tool loads what runs it when it is first called, so that a program that defines tools does not carry it.
      if (file === 'src/kernel/tool/tool.ts' && path === 'src/kernel/direct.ts') continue
      // An artifact loads what reads its lines when it is first asked for lines.
      if (file === 'src/kernel/result/artifact.ts' && /^src\/spool\/(?:lines|spool)\.ts$/.test(path)) continue
      const isWing = wings.some((wing) => path.startsWith(`src/${wing}/`))
      if (isWing) expect(file, `${file} imports ${path}`).toBe('src/kernel/assemble.ts')
      else expect(rooms.indexOf(roomOf(path)), `${file} imports ${path}`).toBeLessThanOrEqual(floor)
    }
  })

  it('is static, but for what most programs never need', () => {
    const onDemand = [...kernel, ...wingFiles].flatMap((file) =>
      [...codeOf(file).matchAll(/[^f] import\('([^']+)'\)|\(import\('([^']+)'\)/g)].map(
        (match) => `${file} ${match[1] ?? match[2]}`,
      ),
    )
    expect(onDemand.toSorted()).toEqual([
      'src/kernel/assemble.ts #on-demand',
      'src/kernel/schema/validator.ts #json-schema',
      'src/kernel/tool/tool.ts ../direct.ts',
    ])
  })

  it.each(contracts)('%s runs nothing that it imports, but for the errors', (file) => {
    const values = [...codeOf(file).matchAll(/^import (?!type )[^']*'([^']+)'/gm)].map((match) => match[1])
    expect(values.filter((name) => !name?.endsWith('/errors.ts'))).toEqual([])
  })

  it(`has no circle of more than ${largestCircle} files`, () => {
    expect(circleOf([...kernel, ...wingFiles]).length).toBeLessThanOrEqual(largestCircle)
  })

  it('is seen whole by the executor, what makes it, and the stages', () => {
    const expected = [...kernelHolders, ...stages.map((stage) => `stages/${stage}`)]
    expect(sources.filter((file) => /\bKernel\b/.test(codeOf(file))).toSorted()).toEqual(
      expected.map((name) => `src/kernel/${name}.ts`).toSorted(),
    )
  })

  it.each(wingFiles)('%s of a wing imports the kernel and its own wing', (file) => {
    const wing = file.split('/').slice(0, 2).join('/')
    for (const path of neighboursOf(file)) {
      expect(path.startsWith('src/kernel/') || path.startsWith(`${wing}/`), `${file} imports ${path}`).toBe(true)
    }
  })

  it.each(kernel)('%s imports no package and nothing of a platform', (file) => {
    const foreign = importsOf(file).filter(
      (name) => !name.startsWith('.') && !['#clock', '#sha256', '#json-schema', '#on-demand', '#shapes'].includes(name),
    )
    expect(foreign).toEqual(file === 'src/kernel/schema/standard.ts' ? ['@standard-schema/spec'] : [])
  })

  it.each(kernel.filter((file) => file.includes('/stages/')))('%s imports no other stage', (file) => {
    expect(importsOf(file).filter((name) => name.startsWith('./'))).toEqual([])
  })

  it('has its stages in the order in which a call passes them', () => {
    const pipeline = /^export async function execute\([^]*?^}/m.exec(read('src/kernel/pipeline.ts'))?.[0] ?? ''
    const calls = [...pipeline.matchAll(/(?:return|=) (?:await )?(\w+)\(\w+, kernel\)/g)]
    expect(calls.map((match) => match[1])).toEqual(stages)
    const diagram = [...read('README.md').matchAll(/^ToolCall ─▶.*$/gm)].map((match) => match[0])[0] ?? ''
    const drawn = diagram.split('─▶').map((part) => part.replace(/[[\]]|middleware|▸/g, '').trim())
    expect(drawn.slice(1, -1)).toEqual(stages)
  })
})

describe('the walls', () => {
  const linesOf = (files: readonly string[]): number =>
    files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)

  it.each(Object.entries(walls()))(
    'hold %s to %i bytes, comments and all: `npm run walls` lowers them',
    (folder, most) => {
      expect(bytesOf(folder)).toBeLessThanOrEqual(most)
    },
  )

  it.each(kernel.filter((file) => file.includes('/stages/')))('hold the stage %s to a screen', (file) => {
    expect(codeLines(file)).toBeLessThanOrEqual(70)
  })

  it.each(sources)('%s has at most 300 lines, a leaf 250; comments count in the kernel', (file) => {
    const lines = kernel.includes(file) ? linesOf([file]) : codeLines(file)
    expect(lines).toBeLessThanOrEqual(leaves.includes(file) && !file.includes('/_') ? 250 : 300)
  })
})

/** The names that a file declares at its top level, whether it exports them or not. */
function topLevelNames(file: string): Set<string> {
  const names = new Set<string>()
  const add = (name: ts.BindingName): void => {
    if (ts.isIdentifier(name)) names.add(name.text)
    else for (const element of name.elements) if (ts.isBindingElement(element)) add(element.name)
  }
  for (const statement of ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest).statements) {
    if (ts.isVariableStatement(statement)) statement.declarationList.declarations.forEach(({ name }) => add(name))
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    if (isNamed && statement.name !== undefined) add(statement.name)
  }
  return names
}

describe('the names', () => {
  it('of the top level are declared in one file of src, but for those of the public entries', () => {
    const files = new Map<string, string[]>()
    // Of each pair in the folder of platforms, one is the other's twin.
    for (const file of globSync('src/**/*.{ts,tsx}', { ignore: 'src/platform/**' })) {
      for (const name of topLevelNames(file)) files.set(name, [...(files.get(name) ?? []), file])
    }
    const shared = [...files].filter(([, places]) => places.length > 1).map(([name, places]) => [name, ...places])
    // This wall only goes down: a private name says of what it is, and what two files need is declared once.
    expect(shared.length, JSON.stringify(shared, null, 1)).toBeLessThanOrEqual(14)
  })
})

/** The files that programs import, from the exports of the package. */
function entriesOf(manifest: { readonly exports: Readonly<Record<string, object | null>> }): string[] {
  const paths = Object.values(manifest.exports).map((conditions) => Object(conditions)['@toolwright/source'] as unknown)
  return globSync(
    paths.filter((path) => typeof path === 'string').map((path) => path.slice(2)),
    { ignore: '**/_*' },
  )
}

/** What is written about a public name, and whether it is there when a program runs. */
interface PublicName {
  readonly name: string
  readonly isValue: boolean
  readonly comments: readonly ts.JSDoc[]
  /** The text of its declarations. */
  readonly code: string
}

const parsed = new Map<string, ts.SourceFile>()

function statementsOf(file: string): readonly ts.Statement[] {
  const source = parsed.get(file) ?? ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true)
  parsed.set(file, source)
  return source.statements
}

/** The names that a file exports, each as it is in the file that declares it. */
function publicNamesOf(file: string): PublicName[] {
  return statementsOf(file).flatMap((statement) => {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      return statement.exportClause.elements.flatMap(({ name, propertyName = name, isTypeOnly }) => {
        const found = declared(file, propertyName.text, statement.moduleSpecifier)
        return found === undefined
          ? [] // of a package
          : { ...found, name: name.text, isValue: found.isValue && !isTypeOnly && !statement.isTypeOnly }
      })
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (isExported !== true) return []
    return declaredNames(statement).flatMap((name) => declared(file, name) ?? [])
  })
}

/** Follows a name to the file of its declarations. Of a function with overloads, and of a type and a value, one comment is enough. */
function declared(file: string, name: string, from?: ts.Expression): PublicName | undefined {
  if (from !== undefined) {
    const [path] = ts.isStringLiteral(from) ? pathsOf([from.text], file) : []
    return path === undefined ? undefined : publicNamesOf(path).find((each) => each.name === name)
  }
  const own = statementsOf(file).filter((statement) => declaredNames(statement).includes(name))
  if (own.length > 0) {
    const isType = (each: ts.Statement): boolean => ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each)
    const comments = own.flatMap((statement) =>
      ts.getJSDocCommentsAndTags(statement).filter((each) => ts.isJSDoc(each)),
    )
    const code = own.map((statement) => statement.getText()).join('\n')
    return { name, isValue: !own.every((each) => isType(each)), comments, code }
  }
  const imported = statementsOf(file).find(
    (statement): statement is ts.ImportDeclaration =>
      ts.isImportDeclaration(statement) && new RegExp(`\\b${name}\\b`).test(statement.importClause?.getText() ?? ''),
  )
  return imported && declared(file, name, imported.moduleSpecifier)
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  const { name } = statement as { readonly name?: ts.Identifier }
  return name === undefined ? [] : [name.text]
}

describe('the documentation comments', () => {
  // What needs no example of its own, and why.
  const withoutExample: Readonly<Record<string, string>> = {
    BinaryArtifact: 'has what SpooledArtifact has, whose example shows it',
    standingOf: 'is what factsOf gives as `standing`',
    TextArtifact: 'has what SpooledArtifact has, whose example shows it',
    ToolExecutionType: 'names for literals, which an editor shows',
    ToolIntent: 'names for literals, which an editor shows',
  }
  /** The classes of the codes. What a program does with one, the example of their base shows. */
  const errorClasses = new Set(Object.keys(errorsDoor).filter((name) => /^(?!ToolError)[A-Z]\w+Error$/.test(name)))

  const names = entriesOf(JSON.parse(read('package.json')) as Parameters<typeof entriesOf>[0]).flatMap((file) =>
    publicNamesOf(file).map((each) => ({ file, ...each })),
  )
  const namesWhere = (matches: (each: (typeof names)[number]) => boolean): string[] => [
    ...new Set(names.filter((each) => matches(each)).map(({ file, name }) => `${file} ${name}`)),
  ]

  it('have a sentence for every public name, types among them', () => {
    expect(names.length).toBeGreaterThan(600)
    expect(namesWhere(({ comments }) => !comments.some(({ comment }) => ts.getTextOfJSDocComment(comment)))).toEqual([])
  })

  it('have an example for every function, class and constant', () => {
    const values = names.filter(({ isValue }) => isValue)
    expect(values.length).toBeGreaterThan(250)
    const hasExample = ({ comments }: PublicName): boolean =>
      comments.some(({ tags = [] }) => tags.some(({ tagName }) => tagName.text === 'example'))
    const isExcused = ({ name }: PublicName): boolean => name in withoutExample || errorClasses.has(name)
    expect(namesWhere((each) => each.isValue && !hasExample(each) && !isExcused(each))).toEqual([])
    // A name that has an example, or is gone, needs no excuse.
    expect(namesWhere((each) => hasExample(each) && each.name in withoutExample)).toEqual([])
    expect(Object.keys(withoutExample).filter((name) => !values.some((each) => each.name === name))).toEqual([])
  })

  it('name the code that wrong options of a function give', () => {
    const checks = names.filter(({ code }) =>
      /\b(?:checkOptions|checkConversation|checkForeign|requireOptions)\(/.test(code),
    )
    expect(checks.length).toBeGreaterThan(40)
    const namesCode = ({ comments }: PublicName): boolean =>
      comments.some(({ tags = [] }) =>
        tags.some(({ tagName, comment }) => {
          const words = ts.getTextOfJSDocComment(comment) ?? ''
          return tagName.text === 'throws' && words.includes('E_INVALID_CONFIGURATION')
        }),
      )
    expect(checks.filter((each) => !namesCode(each)).map(({ file, name }) => `${file} ${name}`)).toEqual([])
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

  it.each(sources.filter((file) => file.includes('sqlite')))(
    '%s numbers no parameter, which Node does not count before 24.1',
    (file) => {
      expect(codeOf(file)).not.toMatch(/\?\d/)
    },
  )

  // Tools of the workspace and the clock of Node run on Node alone.
  it.each(sources.filter((file) => !/^src\/(?:builtins\/|platform\/clock-node)/.test(file)))(
    '%s has no need of `AbortSignal.any`, which not all platforms have',
    (file) => {
      expect(codeOf(file).replace(/\/\/.*$/gm, '')).not.toContain('AbortSignal.any')
    },
  )

  it.each(leaves)('%s enters by the door, and imports its own family alone', (file) => {
    const family = file
      .split('/')
      .slice(0, file.startsWith('src/') ? 2 : 1)
      .join('/')
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      const path = new URL(specifier, `file:///${file}`).pathname.slice(1)
      const isOfTheFloor = path === 'src/kernel/schema/standard.ts' && file.includes('/_')
      expect(
        frontDoors.includes(path) ||
          path.startsWith(`${family}/`) ||
          isOfTheFloor ||
          (family === 'src/journals' && path.startsWith('src/records/')) ||
          // The kernel asks plain Zod schemas by the same rule.
          (file === 'validators/zod.ts' && /^src\/kernel\/schema\/(?:zod|json-schema)\.ts$/.test(path)) ||
          // The schemas of pages and of documents are as little trusted as those of servers: the engine for both stands there.
          ((file === 'src/client/page-tools.ts' || family === 'src/imports') && path === 'validators/json-schema.ts'),
        `${file} imports ${specifier}`,
      ).toBe(true)
    }
  })
})

describe('the fleet', () => {
  it.each(globSync('src/distributed/**/*.ts'))(
    '%s imports the door, the kernel, the records and its own family',
    (file) => {
      const strangers = neighboursOf(file).filter(
        (path) => !frontDoors.includes(path) && !/^src\/(?:distributed|kernel|records)\//.test(path),
      )
      expect(strangers).toEqual([])
      expect(codeLines(file)).toBeLessThanOrEqual(250)
    },
  )
})

describe('the frameworks', () => {
  it.each(globSync('src/frameworks/*.ts'))('%s imports no framework, not even its types', (file) => {
    const foreign = importsOf(file).filter(
      (name) => !/^(?:\.\/|\.\.\/(?:index|errors|extension|formats\/[\w-]+|mcp\/server)\.ts$)/.test(name),
    )
    expect(foreign).toEqual([])
    expect(codeLines(file)).toBeLessThanOrEqual(250)
  })
})

describe('the testing of what uses the package', () => {
  it.each(globSync('src/testing/**/*.ts'))(
    '%s imports the door, the kernel, the records and its own family',
    (file) => {
      const strangers = neighboursOf(file).filter(
        (path) => !frontDoors.includes(path) && !/^src\/(?:testing|kernel|records)\//.test(path),
      )
      expect(strangers).toEqual([])
      expect(codeLines(file)).toBeLessThanOrEqual(250)
    },
  )

  it.each(globSync('src/testing/**/*.ts'))('%s runs on any platform, but for files and for vitest', (file) => {
    const foreign = importsOf(file).filter((name) => !name.startsWith('.'))
    const allowed = file.endsWith('/vitest.ts')
      ? ['vitest', 'node:']
      : /^src\/testing\/cassettes(?:\/|\.ts$)/.test(file)
        ? ['node:']
        : []
    expect(foreign.filter((name) => !allowed.some((prefix) => name.startsWith(prefix)))).toEqual([])
  })

  it.each(sources.filter((file) => !/^src\/(?:testing|cli)\//.test(file)))('%s does not import it', (file) => {
    expect(neighboursOf(file).filter((path) => path.startsWith('src/testing/'))).toEqual([])
  })
})

describe('what a page loads', () => {
  const entries = globSync('src/{client/{browser,protocol},react/hooks}.ts')
  /** The files that are loaded with a file: types are gone by then. */
  const loadedWith = (file: string): string[] =>
    [...codeOf(file).matchAll(/^(?:import|export) (?!type )[^']*?from '(\.[^']+)'/gm)].map(([, specifier = '']) =>
      new URL(specifier, `file:///${file}`).pathname.slice(1),
    )

  it.each(entries)('with %s has nothing of the kernel but types', (entry) => {
    const loaded = new Set([entry])
    for (const file of loaded) for (const next of loadedWith(file)) loaded.add(next)
    const strangers = [...loaded].filter((file) => !/^src\/(?:client|react)\//.test(file))
    expect(strangers).toEqual([])
  })
})

describe('the repository', () => {
  it('has a folder for the package, its validators, its tests, its benches and its gate, and one of a tool', () => {
    const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
    const folders = new Set(tracked.filter((path) => path.includes('/')).map((path) => path.replace(/\/.*/, '')))
    expect([...folders].toSorted()).toEqual(['.ci', '.github', 'bench', 'src', 'tests', 'validators'])
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

  it.each(globSync(['README.md', 'CHANGELOG.md', 'llms.txt', 'src/**/*.md', 'validators/**/*.md']))(
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

describe('the words', () => {
  const unclear = /\b(?:nobody|somebody|whoever|as said|what is none|that is none|of (?:one's|its|their) own making)\b/i

  it.each(sources)('%s names who does what', (file) => {
    expect(
      read(file)
        .split('\n')
        .filter((line) => unclear.test(line)),
    ).toEqual([])
  })

  it.each(sources)('%s says "if" in its comments for what depends on something', (file) => {
    const comments = read(file)
      .split('\n')
      .filter((line) => /^\s*(?:\/\*\*|\*|\/\/)/.test(line))
    expect(comments.filter((line) => /[,;:] where\b/i.test(line))).toEqual([])
  })
})

describe('the door', () => {
  it.each([
    ['toolwright', door],
    ['toolwright/errors', errorsDoor],
    ['toolwright/extension', extensionDoor],
  ])('%s exports these values and no other', (_name, entry) => {
    expect(Object.keys(entry).toSorted()).toMatchSnapshot()
  })

  it('exports types alone from toolwright/compat', () => {
    expect(Object.keys(compatDoor)).toEqual([])
  })

  it('has at most 75 names, types included, of which at most 25 are values', () => {
    const names = [...codeOf('src/index.ts').matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').flatMap((name) => name.trim() || []),
    )
    expect(names.length).toBeLessThanOrEqual(75)
    expect(Object.keys(door).length).toBeLessThanOrEqual(25)
  })
})
