import { globSync } from 'tinyglobby'
import { defineConfig } from 'tsup'

// Every public file is an entry: the door, and each leaf whose path has no part that begins with `_`.
const leaves = globSync(['src/*/**/*.ts', 'validators/**/*.ts'], {
  ignore: ['src/{kernel,records,approvals,spool}/**', 'src/cli/!(bin).ts', 'src/devtools/*/**', '**/_*', '**/_*/**'],
})

// What the `imports` map points at has to be an entry too, private or not.
const behindTheImportsMap = ['validators/json-schema/_engine.ts', 'src/records/held.ts', 'src/mcp/server/_listen.ts']

// Private entries. A bundler takes a chunk as a whole, so what programs use apart has to be built apart. Each costs Node a file
// or two more to load.
const parts = ['src/kernel/tool/tool.ts', 'src/kernel/json/canonical.ts', 'src/records/index.ts']

const configuration: ReturnType<typeof defineConfig> = defineConfig({
  entry: Object.fromEntries(
    ['src/index.ts', ...leaves, ...behindTheImportsMap, ...parts].map((file) => [
      file.replace(/^src\//, '').replace(/\.ts$/, ''),
      file,
    ]),
  ),
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  splitting: true,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^#/, /^node:/],
  // `Symbol.asyncDispose` is in no library that TypeScript takes by default.
  dts: { resolve: ['@standard-schema/spec'], banner: '/// <reference lib="esnext.disposable" />' },
})
export default configuration
