import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build as bundle } from 'esbuild'
import { globSync } from 'tinyglobby'
import { defineConfig, type Options } from 'tsup'

// Every public file is an entry: the door, and each leaf whose path has no part that begins with `_`.
const leaves = globSync(['src/*/**/*.ts', 'validators/**/*.ts'], {
  ignore: [
    'src/{kernel,records,approvals,redaction,spool}/**',
    'src/cli/!(bin).ts',
    'src/devtools/*/**',
    '**/_*',
    '**/_*/**',
  ],
})

// What the `imports` map points at has to be an entry too, private or not.
const behindTheImportsMap = [
  'validators/json-schema/_engine.ts',
  'src/on-demand.ts',
  'src/kernel/shapes.ts',
  'src/mcp/server/_listen.ts',
]

// Private entries. A bundler takes a chunk as a whole, so what programs use apart has to be built apart. Each costs Node a file
// or two more to load.
const parts = ['src/kernel/tool/tool.ts', 'src/kernel/json/canonical.ts', 'src/records/index.ts']

/**
 * Builds what an executor shares with the records into the chunk of the executor: records are of no use without one. Each name
 * that passes between two chunks costs a bundler bytes. An import that is not used is enough.
 */
const recordsWithExecutor: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'records with the executor',
  setup(build) {
    const executor = join(import.meta.dirname, 'src', 'kernel', 'executor.ts')
    build.onLoad({ filter: /[\\/]src[\\/](?:records[\\/]index|kernel[\\/]shapes|on-demand)\.ts$/ }, ({ path }) => ({
      contents: `import { createExecutor as _ } from ${JSON.stringify(executor)};${readFileSync(path, 'utf8')}`,
      loader: 'ts',
    }))
  },
}

/** Leaves out imports of nothing. No chunk does anything while it loads, but Node loads it, and some bundlers keep it. */
const withoutIdleImports: NonNullable<Options['plugins']>[number] = {
  name: 'without idle imports',
  renderChunk: (code) => ({ code: code.replace(/^import "\.\.?\/(?:\.\.\/)*chunk-\w+\.js";$/gm, '') }),
}

const dist = join(import.meta.dirname, 'dist')

/** What `toolwright` loads at once: the chunks that others import too, by their names in `dist`. */
function chunksOfEntry(file = 'index.js', known = new Set<string>()): ReadonlySet<string> {
  for (const [, chunk = ''] of readFileSync(join(dist, file), 'utf8').matchAll(/from "\.\/(chunk-\w+\.js)";$/gm)) {
    if (known.has(chunk)) continue
    known.add(chunk)
    chunksOfEntry(chunk, known)
  }
  return known
}

/**
 * Writes the entry `toolwright` once more for bundlers: a file for each chunk that it takes names of. esbuild loads at once what a
 * file imports that a program needs a name of, but passes over a file of `export *`. Node would load more files.
 */
function writeBundledEntry(): void {
  const folder = join(dist, 'bundled')
  const taken = [...readFileSync(join(dist, 'index.js'), 'utf8').matchAll(/^import (\{[^}]*\}) from "\.(.*)";$/gm)]
  mkdirSync(folder, { recursive: true })
  taken.forEach(([, names, chunk], index) =>
    writeFileSync(join(folder, `${index}.js`), `export ${names} from "..${chunk}";\n`),
  )
  writeFileSync(join(folder, 'index.js'), taken.map((_, index) => `export * from "./${index}.js";\n`).join(''))
}

/**
 * Writes the chunks of the entry `toolwright` into one file for Node, with what its conditions choose: each file that Node loads
 * costs it about as much as 25 kB of code. Other files import these chunks by `#chunk/…`, which for Node is that one file.
 */
async function writeCore(chunks: ReadonlySet<string>): Promise<void> {
  const codes = [...chunks].map((chunk) => readFileSync(join(dist, chunk), 'utf8'))
  const onDemand = codes.flatMap((code) => [...code.matchAll(/import\("([^"]+)"\)/g)].map(([, name = '']) => name))
  await bundle({
    stdin: { contents: [...chunks].map((chunk) => `export * from './${chunk}'`).join('\n'), resolveDir: dist },
    outfile: join(dist, 'core.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    conditions: ['node'],
    external: [...onDemand, 'node:*'],
    logLevel: 'warning',
  })
  for (const file of globSync('**/*.js', { cwd: dist, ignore: ['bundled/**', 'core.js', ...chunks] })) {
    const code = readFileSync(join(dist, file), 'utf8')
    const changed = code.replace(/(?<= from )"[./]+\/(chunk-(\w+)\.js)";$/gm, (place, chunk: string, name: string) => {
      if (!chunks.has(chunk)) return place
      return file === 'index.js' ? '"./core.js";' : `"#chunk/${name}";`
    })
    if (changed !== code) writeFileSync(join(dist, file), changed)
  }
}

function entries(...files: readonly string[]): Record<string, string> {
  return Object.fromEntries(files.map((file) => [file.replace(/^src\//, '').replace(/\.ts$/, ''), file]))
}

const configuration: ReturnType<typeof defineConfig> = defineConfig({
  entry: entries(
    'src/index.ts',
    'src/errors.ts',
    'src/extension.ts',
    'src/compat.ts',
    ...leaves,
    ...behindTheImportsMap,
    ...parts,
  ),
  format: 'esm',
  plugins: [withoutIdleImports],
  onSuccess: async () => {
    const chunks = chunksOfEntry()
    writeBundledEntry()
    await writeCore(chunks)
  },
  esbuildPlugins: [recordsWithExecutor],
  platform: 'neutral',
  target: 'es2022',
  splitting: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^#/, /^node:/],
  // Only what a program can import has declarations.
  dts: {
    entry: entries(
      'src/index.ts',
      'src/errors.ts',
      'src/extension.ts',
      'src/compat.ts',
      'src/records/index.ts',
      ...leaves.filter((file) => !/^src\/(?:cli|platform)\//.test(file)),
    ),
    resolve: ['@standard-schema/spec'],
    // `Symbol.asyncDispose` is in no library that TypeScript takes by default.
    banner: '/// <reference lib="esnext.disposable" />',
  },
})
export default configuration
