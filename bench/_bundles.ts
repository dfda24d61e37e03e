// What a piece of the built package weighs in a bundle, minified and compressed with gzip. The bundler is the one of Vite:
// unlike esbuild it leaves out of the first chunk what only a dynamic import of the door's own modules needs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')
const entry = join(root, 'entry.js')
const door = join(root, 'dist', 'bundled', 'index.js')
const sourceDoor = join(root, 'src', 'index.ts')

export interface Weight {
  readonly bytes: number
  readonly gzip: number
}

/** What is loaded at once, and what is loaded on demand, by the names of the chunks. */
export interface Bundle {
  readonly eager: Weight
  readonly lazy: ReadonlyMap<string, Weight>
}

/**
 * Bundles code that stands in the root of the package.
 *
 * @param code Such as `export * from './dist/bundled/index.js'`, the entry for bundlers. It may import sources too, which have modules that the package has not.
 * @param platform Which condition of the `imports` map is taken.
 * @param withoutDoor Whether the front door and its chunks stay outside, so that a leaf is weighed alone. Default: `false`.
 */
export async function bundle(code: string, platform: 'node' | 'browser', withoutDoor = false): Promise<Bundle> {
  const outside = new Set(withoutDoor ? [...chunksOf(door), sourceDoor] : [])
  const build = await rolldown({
    input: entry,
    platform,
    plugins: [source(code)],
    external: (id, importer) =>
      /^(?:node:|[a-z@])/.test(id) ||
      (withoutDoor && id.startsWith('#chunk/')) ||
      (importer !== undefined && outside.has(join(importer, '..', id))),
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const chunks = new Map(
    output.filter((one): one is OutputChunk => one.type === 'chunk').map((one) => [one.fileName, one]),
  )
  const first = [...chunks.values()].filter(({ isEntry }) => isEntry)
  for (const { imports } of first) for (const name of imports) push(first, chunks.get(name))
  const lazy = [...chunks.values()].filter((one) => !first.includes(one))
  return {
    eager: weigh(first.map((one) => one.code).join('\n')),
    lazy: new Map(lazy.map((one) => [one.name, weigh(one.code)])),
  }
}

/** Returns a built module and all that it imports at once. */
function chunksOf(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|^import) ?"(\.[^"]+)"/gm)) {
    chunksOf(join(file, '..', name), known)
  }
  return known
}

function push(chunks: OutputChunk[], next: OutputChunk | undefined): void {
  if (next !== undefined && !chunks.includes(next)) chunks.push(next)
}

function weigh(code: string): Weight {
  return { bytes: Buffer.byteLength(code), gzip: gzipSync(code, { level: 9 }).byteLength }
}

/** Gives the entry its code. */
function source(code: string): Plugin {
  return {
    name: 'source',
    resolveId: (id) => (id === entry ? id : undefined),
    load: (id) => (id === entry ? code : undefined),
  }
}
