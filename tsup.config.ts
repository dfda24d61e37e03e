import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

/**
 * Writes the entry `toolwright` once more for bundlers: a file for each chunk that it takes names of. esbuild loads at once what a
 * file imports that a program needs a name of, but passes over a file of `export *`. Node would load more files.
 */
function writeBundledEntry(): void {
  const folder = join(import.meta.dirname, 'dist', 'bundled')
  const chunks = [
    ...readFileSync(join(import.meta.dirname, 'dist', 'index.js'), 'utf8').matchAll(
      /^import (\{[^}]*\}) from "\.(.*)";$/gm,
    ),
  ]
  mkdirSync(folder, { recursive: true })
  chunks.forEach(([, names, chunk], index) =>
    writeFileSync(join(folder, `${index}.js`), `export ${names} from "..${chunk}";\n`),
  )
  writeFileSync(join(folder, 'index.js'), chunks.map((_, index) => `export * from "./${index}.js";\n`).join(''))
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
  onSuccess: async () => writeBundledEntry(),
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
