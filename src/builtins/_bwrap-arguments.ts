import { closeSync, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { asAnything } from './_held-directory.ts'

/** How much a command may use. */
export interface BubblewrapLimits {
  /** Processes and threads. Default: 256. */
  readonly processes?: number
  /** Virtual memory of each process. Default: none; runtimes reserve far more than they use. */
  readonly memoryBytes?: number
  /** The largest file that it may write. Default: none. */
  readonly fileBytes?: number
  /** Processor time of each process. Default: none. */
  readonly cpuSeconds?: number
}

/** What a sandbox is made of. */
export interface Walls {
  readonly root: string
  readonly network: boolean
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Names directly below the root that are bound read-only. */
  readonly protect: readonly string[]
  readonly ripgrep: string | undefined
}

/** Where a given ripgrep stands in the sandbox. */
export const ripgrepInside = '/run/rg'

/** What bwrap reads from descriptor 3 before it sets anything up. Without it the other arguments are refused. */
export const firstArgument = '--unshare-pid\0'

/** What programs need of `/etc`. */
export const ofEtc: readonly string[] =
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives passwd group nsswitch.conf ssl localtime'.split(' ')
const ofEtcWithNetwork = ['resolv.conf', 'hosts', 'gai.conf', 'services']

/** Returns the arguments of bwrap up to the program that it runs. */
export function bwrapArguments(walls: Walls, directory: string, held: readonly ProtectedFile[] = []): string[] {
  const { root, network, readable, writable, ripgrep } = walls
  const etc = [...ofEtc, ...(network ? ofEtcWithNetwork : [])].map((name) => `/etc/${name}`)
  return [
    ...namespaces(network),
    '--hostname',
    'sandbox',
    ...programs(),
    ...etc.flatMap((path) => ['--ro-bind-try', path, path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    ...(ripgrep === undefined ? [] : ['--ro-bind', ripgrep, ripgrepInside]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    '--bind',
    root,
    root,
    ...held.flatMap(({ path }) => ['--ro-bind', path, path]),
    '--remount-ro',
    '/',
    '--chdir',
    directory,
    '--',
  ]
}

/**
 * Returns the arguments of bwrap for a search: it sees the root and the engine alone, and writes nothing. So what is swapped for
 * a link while it is searched leads nowhere.
 *
 * @param libraries What the engine loads.
 */
export function searchArguments(root: string, ripgrep: string, libraries: readonly string[]): string[] {
  return [
    ...namespaces(false),
    '--ro-bind-try',
    '/etc/ld.so.cache',
    '/etc/ld.so.cache',
    ...libraries.flatMap((path) => ['--ro-bind', path, path]),
    '--ro-bind',
    ripgrep,
    ripgrepInside,
    '--ro-bind',
    root,
    root,
    '--remount-ro',
    '/',
    '--chdir',
    root,
    '--',
    ripgrepInside,
  ]
}

/** Returns a shell's command that lists what a program loads. */
export function listLibraries(program: string | undefined): string {
  return program === undefined ? 'true' : `ldd '${program}' 2> /dev/null; true`
}

/** Returns the files in the answer to `listLibraries`. A program that is linked statically has none. */
export function librariesIn(answer: string): string[] {
  return Array.from(answer.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm), ([, path = '']) => path)
}

/**
 * There is no `--new-session`: who ends the group of bwrap ends the first process of the sandbox too, whatever it is about to
 * do. It has no terminal either way.
 */
function namespaces(network: boolean): string[] {
  return [
    '--args',
    '3',
    '--unshare-user',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network ? [] : ['--unshare-net']),
    '--disable-userns',
    '--as-pid-1',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--seccomp',
    '4',
  ]
}

function programs(): string[] {
  return ['--ro-bind', '/usr', '/usr', ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap(topLevel)]
}

function topLevel(name: string): string[] {
  try {
    if (lstatSync(`/${name}`).isSymbolicLink()) return ['--symlink', readlinkSync(`/${name}`), `/${name}`]
    return ['--ro-bind', `/${name}`, `/${name}`]
  } catch {
    return []
  }
}

/** What lies directly below the root and is not written, and the descriptor that holds it. */
export interface ProtectedFile {
  readonly path: string
  readonly descriptor: number
}

/** Holds the files and directories with protected names. A link is not among them: bwrap would follow it out of the root. */
export function holdProtected({ root, protect }: Pick<Walls, 'root' | 'protect'>): ProtectedFile[] {
  return protect.flatMap((name) => {
    const path = join(root, name)
    try {
      const descriptor = openSync(path, asAnything)
      const stats = fstatSync(descriptor)
      if (stats.isDirectory() || stats.isFile()) return [{ path, descriptor }]
      closeSync(descriptor)
    } catch {
      // there is none
    }
    return []
  })
}

/** Returns a shell's command that sets limits for what follows. */
export function ulimits({ processes = 256, memoryBytes, fileBytes, cpuSeconds }: BubblewrapLimits): string {
  const inKibibytes = (bytes: number): number => Math.max(1, Math.floor(bytes / 1_024))
  const limits = [
    `-u ${processes} -c 0`,
    memoryBytes === undefined ? '' : `-v ${inKibibytes(memoryBytes)}`,
    fileBytes === undefined ? '' : `-f ${inKibibytes(fileBytes)}`,
    cpuSeconds === undefined ? '' : `-t ${cpuSeconds}`,
  ]
  return `ulimit ${limits.filter(Boolean).join(' ')}`
}
