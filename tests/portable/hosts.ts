import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Need } from './run.ts'

const modules = join(import.meta.dirname, 'npm', 'node_modules')

/** A runtime that the packed package is tried in. */
export interface Host {
  readonly name: string
  /** The version that was tried. Browsers come from the system, which keeps them up to date. */
  readonly version: string
  readonly kind: 'process' | 'workerd' | 'page' | 'realm'
  /** The path of the program, or the names under which a system has it. */
  readonly program: string | readonly string[]
  /** Parameters before the program's file. `FOLDER` stands for the folder in which it may write. */
  readonly parameters?: readonly string[]
  /** A package of `tests/portable/npm` that the program loads. */
  readonly loads?: string
  /**
   * Whether it runs the cases that try many values with all of them, as `tests/imports` does where it runs. Default: with a few.
   */
  readonly isFull?: boolean
  /** What the platform lacks. Cases that need it are skipped. */
  readonly lacks: readonly Need[]
  /** The row of the page's table that tells of this host, if not one of its own. */
  readonly row?: string
  /** What users have to know, in place of what it lacks. */
  readonly remark?: string
}

const nothingOfNode: readonly Need[] = [
  'env',
  'eval',
  'files',
  'hooks',
  'postgres',
  'processes',
  'serve',
  'sockets',
  'sqlite',
]
const ownNode = process.execPath
const hardened: readonly Need[] = ['files', 'hooks', 'postgres', 'processes', 'serve', 'sqlite']
const rowOfHardened = {
  row: 'Node with `--frozen-intrinsics`, `--permission`, `--disallow-code-generation-from-strings`, SES lockdown',
  remark: 'what the flag forbids',
}

export const hosts: readonly Host[] = [
  {
    name: 'Node 22',
    version: '22.18.0',
    kind: 'process',
    program: join(modules, 'node22', 'bin', 'node'),
    lacks: ['hooks', 'serve', 'unpacking'], // it remembers a failed import itself
    row: 'Node',
  },
  { name: 'Node 24', version: '24.21.0', kind: 'process', program: ownNode, lacks: ['serve'], row: 'Node' },
  {
    name: 'Node 26',
    version: '26.10.0',
    kind: 'process',
    program: join(modules, 'node26', 'bin', 'node'),
    lacks: ['serve'],
    row: 'Node',
  },
  {
    name: 'Node --frozen-intrinsics',
    version: '24.21.0',
    kind: 'process',
    program: ownNode,
    parameters: ['--frozen-intrinsics'],
    lacks: hardened,
    ...rowOfHardened,
  },
  {
    name: 'Node --permission',
    version: '24.21.0',
    kind: 'process',
    program: ownNode,
    parameters: ['--permission', '--allow-fs-read=*', '--allow-fs-write=FOLDER'],
    lacks: ['hooks', 'postgres', 'processes', 'serve'],
    ...rowOfHardened,
  },
  {
    name: 'Node --disallow-code-generation-from-strings',
    version: '24.21.0',
    kind: 'process',
    program: ownNode,
    parameters: ['--disallow-code-generation-from-strings'],
    lacks: ['eval', ...hardened],
    ...rowOfHardened,
  },
  {
    name: 'Node, SES lockdown',
    version: '24.21.0',
    kind: 'process',
    program: ownNode,
    parameters: ['--import', './hosts/lockdown.ts'],
    loads: 'ses',
    lacks: hardened,
    ...rowOfHardened,
  },
  {
    name: 'Bun',
    version: '1.4.5',
    kind: 'process',
    program: join(modules, '@oven', 'bun-linux-x64', 'bin', 'bun'),
    lacks: ['hooks'],
  },
  {
    name: 'Deno',
    version: '2.9.6',
    kind: 'process',
    program: join(modules, '@deno', 'linux-x64-glibc', 'deno'),
    parameters: ['run', '-A'],
    lacks: ['hooks'],
    row: 'Deno',
  },
  {
    name: 'Deno, files alone',
    version: '2.9.6',
    kind: 'process',
    program: join(modules, '@deno', 'linux-x64-glibc', 'deno'),
    parameters: ['run', '--allow-read', '--allow-write=FOLDER', '--allow-sys=osUptime', '--no-prompt'],
    lacks: ['env', 'hooks', 'network', 'postgres', 'processes', 'serve', 'sockets', 'yaml'],
    row: 'Deno',
    remark: '`journals/sqlite` needs `--allow-sys=osUptime`, `yaml` needs `--allow-env`',
  },
  {
    name: 'workerd',
    version: '1.20261117.1',
    kind: 'workerd',
    program: join(modules, '@cloudflare', 'workerd-linux-64', 'bin', 'workerd'),
    isFull: true,
    lacks: [...nothingOfNode, 'realms'],
    row: 'workerd, Chromium, Firefox',
  },
  {
    name: 'workerd, in a Durable Object',
    version: '1.20261117.1',
    kind: 'workerd',
    program: join(modules, '@cloudflare', 'workerd-linux-64', 'bin', 'workerd'),
    parameters: ['object'],
    row: 'workerd, Chromium, Firefox',
    lacks: [...nothingOfNode, 'realms'],
  },
  {
    name: 'Chromium',
    version: '156',
    kind: 'page',
    program: ['chromium', 'chromium-browser', 'google-chrome'],
    lacks: [...nothingOfNode, 'cookies', 'heads', 'redirects'],
    row: 'workerd, Chromium, Firefox',
  },
  {
    name: 'Firefox',
    version: '153',
    kind: 'page',
    program: ['firefox-esr', 'firefox'],
    lacks: [...nothingOfNode, 'cookies', 'heads', 'redirects'],
    row: 'workerd, Chromium, Firefox',
  },
  {
    name: 'A bare realm of V8',
    version: '24.21.0',
    kind: 'realm',
    program: ownNode,
    lacks: [...nothingOfNode, 'cookies', 'decoder', 'heads', 'network', 'realms', 'redirects', 'streams', 'web'],
  },
]

/** The program of a host, if it is installed, and what it loads too. */
export function programOf({ program, loads }: Host): string | undefined {
  if (loads !== undefined && !existsSync(join(modules, loads))) return undefined
  const places = typeof program === 'string' ? [program] : program.map((name) => join('/usr/bin', name))
  return places.find((path) => existsSync(path))
}
