import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why there is no small disk to fill; nothing where there is one. */
export function noSmallDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root may mount one'
  const place = mkdtempSync(join(tmpdir(), 'toolwright-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', place])
  if (status === 0) spawnSync('umount', [place])
  rmdirSync(place)
  return status === 0 ? undefined : 'this system lets nobody mount one'
}
