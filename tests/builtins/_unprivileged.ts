// Imported before all else: what is imported afterwards finds a process without the rights of root, if others may read this folder.
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

const nobody = 65_534

/** Why this process is still root; nothing if it is not. */
export const isRootBecause: string | undefined = leaveRoot()

function leaveRoot(): string | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return `only root may read ${folder}`
    if (folder === dirname(folder)) break
  }
  process.setgroups?.([])
  process.setgid?.(nobody)
  process.setuid?.(nobody)
  process.env['HOME'] = '/tmp'
  return undefined
}
