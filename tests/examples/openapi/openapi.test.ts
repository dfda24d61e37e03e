import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('each person orders with a token of their own, which nothing shows, and a refusal has no effect', () => {
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '-C',
    '@toolwright/source',
    join(import.meta.dirname, 'main.ts'),
  ]
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(stderr).toBe('')
  const [coffee, tea, milk, orders] = stdout.split('\n')
  expect(coffee).toBe('ada error none [{"type":"text","text":"422 Unprocessable Entity: Out of stock. There is tea."}]')
  expect(tea).toMatch(/^ada ok completed .*"order":1/)
  expect(milk).toMatch(/^bob ok completed .*"order":1.*Bearer \[credential\]/)
  expect(orders).toBe("ada [ { item: 'tea', shop: 'oslo' } ]")
  expect(stdout).not.toContain('token-of')
})
