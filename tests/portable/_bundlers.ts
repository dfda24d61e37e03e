import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const installed = join(import.meta.dirname, 'npm', 'node_modules')
const require = createRequire(join(installed, 'x.js'))
const bun = join(installed, '@oven', 'bun-linux-x64', 'bin', 'bun')

/** Why the bundlers of `tests/portable/npm` cannot run here, if so. */
export const missing: string | undefined =
  existsSync(join(installed, 'webpack')) && existsSync(bun)
    ? undefined
    : 'the bundlers are not installed: npm ci --prefix tests/portable/npm'

/** Bundles a program for browsers, minified, into a folder. */
type Bundle = (entry: string, folder: string) => Promise<unknown>

/** The part of webpack that rspack has too. */
type Packer = (
  options: object,
  done: (error: Error | null, stats?: { hasErrors(): boolean; toString(options: object): string }) => void,
) => void

function packed(pack: Packer, entry: string, folder: string, target = ['web', 'es2022']): Promise<void> {
  const options = {
    mode: 'production',
    entry,
    output: { path: folder, filename: 'main.js' },
    target,
    devtool: false,
    performance: false,
    // By itself it numbers modules by hashes of their paths, in which are hashes of the code. Their order, and with it the size after
    // compression, would differ by 0.2 kB from build to build.
    optimization: { moduleIds: 'natural', chunkIds: 'natural' },
  }
  return new Promise((resolve, reject) => {
    pack(options, (error, stats) => {
      if (error === null && stats?.hasErrors() === false) resolve()
      else reject(error ?? new Error(stats?.toString({ all: false, errors: true })))
    })
  })
}

function packers(): Readonly<Record<'webpack' | 'rspack', Packer>> {
  return {
    webpack: require('webpack') as Packer,
    rspack: (require('@rspack/core') as { rspack: Packer }).rspack,
  }
}

/** Bundles a program for Node, as a server that is built does. */
export function packForNode(name: 'webpack' | 'rspack', entry: string, folder: string): Promise<void> {
  return packed(packers()[name], entry, folder, ['node22'])
}

export const bundlers: Readonly<Record<string, Bundle>> = {
  async esbuild(entry, folder) {
    const { build } = await import('esbuild')
    // If it splits, it loads at once what dynamic imports need of any module that is imported, used or not: the README says so.
    // A program of one part is not split.
    const splitting = !entry.endsWith('id.js')
    const shape = { bundle: true, splitting, format: 'esm', platform: 'browser', minify: true } as const
    await build({ entryPoints: { main: entry }, outdir: folder, ...shape, logLevel: 'error' })
  },
  async rollup(entry, folder) {
    const { rollup } = await import('rollup')
    const { transform } = await import('esbuild')
    const resolver = require('@rollup/plugin-node-resolve') as {
      nodeResolve(options: object): import('rollup').Plugin
    }
    const minified = {
      name: 'minified',
      renderChunk: (code: string) => transform(code, { minify: true, format: 'esm' }),
    }
    const bundle = await rollup({
      input: { main: entry },
      plugins: [resolver.nodeResolve({ browser: true }), minified],
    })
    await bundle.write({ dir: folder, format: 'es' })
  },
  async rolldown(entry, folder) {
    const { rolldown } = await import('rolldown')
    const bundle = await rolldown({ input: { main: entry }, platform: 'browser' })
    await bundle.write({ dir: folder, format: 'es', minify: true })
  },
  async vite(entry, folder) {
    const { build } = await import('vite')
    const output = { entryFileNames: '[name].js' }
    const shape = { outDir: folder, target: 'es2022', rolldownOptions: { input: { main: entry }, output } }
    await build({ root: dirname(entry), logLevel: 'error', configFile: false, build: shape })
  },
  webpack: (entry, folder) => packed(packers().webpack, entry, folder),
  rspack: (entry, folder) => packed(packers().rspack, entry, folder),
  async bun(entry, folder) {
    const shape = ['--splitting', '--format=esm', '--target=browser', '--minify', '--entry-naming=main.js']
    execFileSync(bun, ['build', entry, `--outdir=${folder}`, ...shape], { cwd: dirname(entry), stdio: 'pipe' })
  },
}

/** What a bundler made of a program. */
export interface Bundled {
  /** The bytes that are loaded at once, compressed. */
  readonly eager: number
  /** The bytes of the chunks that are loaded on demand, compressed, with their code. */
  readonly lazy: readonly { readonly bytes: number; readonly code: string }[]
  readonly code: string
}

/** Bundles a program, and reads what came of it. */
export async function bundleWith(name: string, entry: string, folder: string): Promise<Bundled> {
  mkdirSync(folder, { recursive: true })
  await bundlers[name]?.(entry, folder)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.m?js$/.test(path))
  const chunks = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  const eager = new Set(['main.js'])
  for (const path of eager) {
    for (const [, from, bare] of (chunks.get(path) ?? '').matchAll(
      /from\s*["'](\.[^"']+)["']|import\s*["'](\.[^"']+)["']/g,
    )) {
      eager.add(join(dirname(path), from ?? bare ?? ''))
    }
  }
  const code = [...chunks.values()].join('\n')
  const atOnce = [...eager].map((path) => chunks.get(path) ?? '').join('\n')
  const lazy = [...chunks].filter(([path]) => !eager.has(path)).map(([, each]) => ({ bytes: weigh(each), code: each }))
  return { eager: weigh(atOnce), lazy, code }
}

function weigh(code: string): number {
  return gzipSync(code, { level: 9 }).byteLength
}
