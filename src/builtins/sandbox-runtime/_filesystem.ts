import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { ofEtc } from '../_bwrap-arguments.ts'
import type { FilesystemConfig, Runtime } from './_process.ts'

/** What a command reads and writes. */
export interface Reach {
  readonly root: string
  /** A directory for temporary files. */
  readonly temporary: string
  readonly readable: readonly string[]
  /** Names directly below the root that are not written, if they are there. */
  readonly protect: readonly string[]
  readonly seccomp: string | undefined
  /** Whether it reaches the network. */
  readonly network: boolean
}

/** On macOS programs need much of the system. What belongs to users lies here. */
const usersOfMac = [
  '/Users',
  '/Volumes',
  '/Network',
  '/private/tmp',
  '/private/var/tmp',
  '/private/var/folders',
  '/private/var/root',
  '/private/var/log',
  '/private/etc/ssh',
  '/Library/Keychains',
]

/** The package makes these directories writable for every command, and cannot be told not to. */
const sharedDirectories = ['/tmp/claude', '/private/tmp/claude']

/** Returns what a command may read and write. An entry is a name, whatever characters it has. */
export function filesystemFor(
  { root, temporary, readable, protect, seccomp, network }: Reach,
  runtime: Runtime,
): FilesystemConfig {
  const isLinux = process.platform === 'linux'
  // The proxy is found by the name `localhost`.
  const etc = network ? [...ofEtc, 'hosts', 'services'] : ofEtc
  const system = isLinux ? ['/usr', ...etc.map((name) => `/etc/${name}`)] : []
  // The way to the proxies lies in the directory for temporary files, which is hidden.
  const sockets = [runtime.getLinuxHttpSocketPath(), runtime.getLinuxSocksSocketPath()]
  const allowed = [...system, ...readable, root, temporary, seccomp, ...sockets].filter((path) => path !== undefined)
  const written = protect.map((name) => join(root, name)).filter(isFileOrDirectory)
  return {
    denyRead: [
      ...literals(isLinux ? ['/'] : usersOfMac),
      // Naming the directory alone would show what is in it.
      ...sharedDirectories.map((path) => `${path}/*`),
    ],
    allowRead: literals([...new Set(allowed)]),
    allowWrite: literals([root, temporary]),
    denyWrite: literals([...written, ...sharedDirectories]),
  }
}

function literals(paths: readonly string[]): { readonly path: string; readonly literal: true }[] {
  return paths.map((path) => ({ path, literal: true }) as const)
}

/** A link is neither: what it leads to is not protected by its name. */
function isFileOrDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.isFile() || stats.isDirectory())
}
