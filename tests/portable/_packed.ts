import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..', '..')
const installed = join(import.meta.dirname, 'npm', 'node_modules')

/** Why nothing can be packed here, if so. */
export const unbuilt: string | undefined = existsSync(join(root, 'dist', 'index.js'))
  ? undefined
  : 'the package is not built: npm run build'

/** Makes a folder in which the packed package is installed, and of its peers and other packages those that are named. */
export function installation(names: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-application-')))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'toolwright'), { recursive: true })
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }]
  const tarball = join(folder, filename)
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'toolwright')])
  rmSync(tarball)
  for (const name of names) link(join(root, 'node_modules', name), join(modules, name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** Makes a folder with a program of the cases, in which the packed package and its peers are installed. */
export function application(): string {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly peerDependencies: Readonly<Record<string, string>>
  }
  const folder = installation([...Object.keys(peerDependencies), '@types/node'])
  if (existsSync(join(installed, 'ses'))) link(join(installed, 'ses'), join(folder, 'node_modules', 'ses'))
  for (const name of ['_assert.ts', 'call-ids.json', 'cases', 'cases.ts', 'hosts', 'run.ts']) {
    cpSync(join(import.meta.dirname, name), join(folder, name), { recursive: true })
  }
  return folder
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

/** Modules of Node throw when they are loaded, as on a platform that has none. */
const nothingOfNode: Plugin = {
  name: 'nothing-of-node',
  setup(bundle) {
    const modules =
      /^(?:node:.*|child_process|crypto|dns|events|fs|net|path|pg-native|process|stream|string_decoder|tls|url|util)$/
    bundle.onResolve({ filter: modules }, ({ path }) => ({ path, namespace: 'absent' }))
    bundle.onLoad({ filter: /.*/, namespace: 'absent' }, ({ path }) => ({
      contents: `throw new Error('There is no ${path}.')`,
    }))
  },
}

/** Bundles a program of an application for a platform that has nothing of Node. Returns its code. */
export async function bundled(folder: string, entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, entry)],
    absWorkingDir: folder,
    bundle: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    mainFields: ['module', 'main'],
    plugins: [nothingOfNode],
    logLevel: 'error',
    ...options,
  })
  return outputFiles?.[0]?.text ?? ''
}
