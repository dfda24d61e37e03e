import { join } from 'node:path'
import { defineConfig, type UserConfig } from 'vite'

const root = import.meta.dirname

/** Builds the page of the inspector: `npm run build:page`. */
const configuration: UserConfig = defineConfig({
  root,
  base: './',
  logLevel: 'warn',
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
