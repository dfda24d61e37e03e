import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { bytes, canary, local, workspace } from './_workspace.ts'

const duration = 6_000

test('what is swapped for links while it is read and written leads nowhere (CVE-2025-53109, CVE-2026-25724)', async () => {
  const { root, outside } = workspace({ 'dir/secret.txt': 'inside', file: 'inside' })
  const sandbox = await local(root)
  const args = [
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, '_flip.ts'),
    root,
    outside,
    String(duration),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const told = text(child.stdout)
  const isOver = new Promise((resolve) => {
    child.once('exit', resolve)
  })
  const running = { now: true }
  void isOver.then(() => (running.now = false))
  const counts = { read: 0, refused: 0, written: 0, walked: 0, leaks: 0 }
  while (running.now) {
    for (const path of ['dir/secret.txt', 'file']) {
      try {
        const found = new TextDecoder().decode((await sandbox.readFile(path)).bytes)
        counts.read++
        if (found.includes(canary)) counts.leaks++
      } catch {
        counts.refused++
      }
      try {
        await sandbox.writeFile(path, bytes('inside'))
        counts.written++
      } catch {
        counts.refused++
      }
    }
    try {
      for await (const { path, size } of sandbox.walk('.')) {
        counts.walked++
        if (size === canary.length || path.includes('outside')) counts.leaks++
      }
    } catch {
      counts.refused++
    }
  }
  const { flips } = JSON.parse(await told) as { flips: number }
  console.log(JSON.stringify({ flips, ...counts }))
  expect(flips).toBeGreaterThan(100)
  expect(counts.read).toBeGreaterThan(10)
  expect(counts.written).toBeGreaterThan(10)
  expect(counts.leaks).toBe(0)
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(canary)
  expect(readdirSync(outside)).toEqual(['secret.txt'])
})
