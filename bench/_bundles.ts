// What a piece of the package weighs in somebody's bundle: from the sources, minified, compressed with gzip.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin, type PluginBuild } from 'esbuild'

const root = join(import.meta.dirname, '..')
const door = join(root, 'src', 'index.ts')

export interface Weight {
  readonly bytes: number
  readonly gzip: number
}

/** What comes at once, and what comes when it is asked for. */
export interface Bundle {
  readonly eager: Weight
  readonly lazy: ReadonlyMap<string, Weight>
}

/**
 * Bundles code that stands in the root of the package.
 *
 * @param code Such as `export * from './src/index.ts'`.
 * @param platform What the `imports` map is asked for.
 * @param withoutDoor Whether the front door stays outside, so that a leaf is weighed alone. Default: `false`.
 */
export async function bundle(code: string, platform: 'node' | 'browser', withoutDoor = false): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: root, loader: 'ts', sourcefile: 'entry.ts' },
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    platform,
    outdir: root,
    absWorkingDir: root,
    conditions: ['@toolwright/source'],
    plugins: [ownCode(platform, withoutDoor)],
    logLevel: 'silent',
  })
  const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === 'entry.ts')
  const eager = new Set([join(root, 'stdin.js')])
  for (const found of entry?.imports ?? []) if (found.kind === 'import-statement') eager.add(join(root, found.path))
  const first: Uint8Array[] = []
  const lazy = new Map<string, Weight>()
  for (const { path, contents } of outputFiles) {
    const name = path.slice(root.length + 1).replace(/-[A-Z0-9]{8}\.js$/, '')
    if (eager.has(path)) first.push(contents)
    else lazy.set(name, weigh(contents))
  }
  return { eager: weigh(Buffer.concat(first)), lazy }
}

function weigh(contents: Uint8Array): Weight {
  return { bytes: contents.byteLength, gzip: gzipSync(contents, { level: 9 }).byteLength }
}

/** Leaves other people's packages outside, and where it is asked for the front door. */
function ownCode(platform: 'node' | 'browser', withoutDoor: boolean): Plugin {
  return {
    name: 'own-code',
    setup(bundler: PluginBuild) {
      bundler.onResolve({ filter: /^#sha256$/ }, () => ({
        path: join(root, 'src', 'platform', platform === 'node' ? 'sha256-node.ts' : 'sha256-portable.ts'),
        sideEffects: false,
      }))
      bundler.onResolve({ filter: /^[^.#/]/ }, ({ kind, path }) =>
        kind === 'entry-point' ? undefined : { path, external: true },
      )
      bundler.onResolve({ filter: /\/index\.ts$/ }, ({ path, resolveDir }) =>
        withoutDoor && join(resolveDir, path) === door ? { path, external: true } : undefined,
      )
    },
  }
}
