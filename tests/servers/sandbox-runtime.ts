import { spawnSync } from 'node:child_process'
import { missing as missingBubblewrap } from './bubblewrap.ts'

/** Why tests that need the sandbox runtime cannot run here; nothing if they can. */
export const missing: string | undefined = missingBubblewrap ?? ['socat', 'rg'].map(missingProgram).find(Boolean)

function missingProgram(name: string): string | undefined {
  const isThere = spawnSync('/bin/sh', ['-c', `command -v ${name}`]).status === 0
  return isThere ? undefined : `there is no ${name}: apt-get install socat ripgrep`
}
