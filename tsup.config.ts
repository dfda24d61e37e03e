import { globSync } from 'tinyglobby'
import { defineConfig } from 'tsup'

// Every public file is an entry: the door, and each leaf whose path has no part that begins with `_`.
const leaves = globSync(['src/*/**/*.ts', 'validators/**/*.ts'], {
  ignore: ['src/kernel/**', 'src/cli/!(bin).ts', '**/_*', '**/_*/**'],
})

// What the `imports` map points at has to be an entry too, private or not.
const behindTheImportsMap = ['validators/json-schema/_engine.ts']

const configuration: ReturnType<typeof defineConfig> = defineConfig({
  entry: Object.fromEntries(
    ['src/index.ts', ...leaves, ...behindTheImportsMap].map((file) => [
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
  dts: { resolve: ['@standard-schema/spec'] },
})
export default configuration
