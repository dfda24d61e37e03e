import { spawnSync } from 'node:child_process'

/** The user of sandboxed commands, if the tests run as root. */
export const user: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** Why tests that need bubblewrap cannot run here; nothing where they can. */
export const missing: string | undefined = reason()

function reason(): string | undefined {
  const args = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true']
  const { error, status, stderr } = spawnSync('bwrap', args, { encoding: 'utf8', ...user, cwd: '/' })
  if (error !== undefined) return 'there is no bubblewrap: apt-get install bubblewrap'
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`
}
