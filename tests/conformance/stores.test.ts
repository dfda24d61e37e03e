import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeStore } from 'toolwright/conformance/stores'
import type { ArtifactStore } from 'toolwright/extension'
import { afterAll } from 'vitest'

// The store of the page is one that a third party could write: it passes the suite.
const page = readFileSync(join(import.meta.dirname, '../../src/stores/README.md'), 'utf8')
const [, snippet = ''] = /^## A store of your own$[^]*?^```ts\n([^]*?)^```$/m.exec(page) ?? []
const file = join(import.meta.dirname, `.store-${process.pid}.ts`)
writeFileSync(file, snippet)
type MapStore = (limits?: { readonly maximumBytes?: number }, kept?: Map<string, unknown>) => ArtifactStore
const { mapStore } = (await import(file)) as { mapStore: MapStore }
afterAll(() => rmSync(file))

describeStore('the store of the page', (limits) => {
  const kept = new Map<string, unknown>()
  return { store: mapStore(limits, kept), count: () => kept.size }
})
