import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'

const root = import.meta.dirname

/** The page has Preact within it, whose license wants its notice beside each copy. */
const notices: Plugin = {
  name: 'notices',
  generateBundle() {
    const license = readFileSync(join(root, '../../../../node_modules/preact/LICENSE'), 'utf8')
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source: `Preact\n\n${license}` })
  },
}

/** Builds the page of the inspector: `npm run build:page`. */
const configuration: UserConfig = defineConfig({
  root,
  base: './',
  logLevel: 'warn',
  plugins: [notices],
  resolve: { conditions: ['@toolwright/source', 'module', 'browser'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: join(root, '..', '..', '..', '..', 'dist', 'devtools', 'inspector'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'], // the first with `light-dark` in CSS
    modulePreload: false,
    rolldownOptions: {
      output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]', codeSplitting: false },
    },
  },
})
export default configuration
