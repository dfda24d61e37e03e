import { defineConfig, type UserConfig } from 'vite'

/** Builds the page of the shop, from the sources of this package. */
const configuration: UserConfig = defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  resolve: { dedupe: ['react'], conditions: ['@toolwright/source', 'module', 'browser'] },
})
export default configuration
