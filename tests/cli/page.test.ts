import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { program, toolwright } from './_command.ts'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'src/cli/README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'toolwright-cli-page-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What is typed, and what is printed, in the order of the page. */
const steps = [...page.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [typed = '', ...printed] = step.trimEnd().split('\n')
      return { typed, printed: printed.join('\n') }
    }),
)

describe('the page of the command', { timeout: 60_000 }, () => {
  test('shows what a shell prints, from top to bottom', async () => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules', 'toolwright'))
    writeFileSync(join(folder, 'tools.mjs'), /^```js\n([^]*?)^```$/m.exec(page)?.[1] ?? '')
    expect(steps.length).toBeGreaterThan(5)
    for (const { typed, printed } of steps) {
      const command = typed.replace('npx toolwright', program.map((word) => `'${word}'`).join(' '))
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder })
      expect(`${typed}\n${stdout.trimEnd()}`).toBe(`${typed}\n${printed}`)
    }
  })

  test('has every command and every option that the help has', async () => {
    const { stdout } = await toolwright(['--help'])
    const commands = [...new Set(Array.from(stdout.matchAll(/^ {2}([a-z]+) /gm), ([, name = '']) => name))]
    expect(commands.length).toBeGreaterThan(10)
    expect(commands.filter((name) => !new RegExp(`^\\| \`${name}[ \`]`, 'm').test(page))).toEqual([])
    for (const name of commands) {
      const help = (await toolwright([name, '--help'])).stdout
      const options = Array.from(help.matchAll(/^ {2}(--[a-z-]+)/gm), ([, option = '']) => option)
      const section = page.split(/^## /m).filter((part) => new RegExp(`^[a-z, ]*\\b${name}\\b`).test(part))
      expect([name, options.filter((option) => !section.join().includes(option))]).toEqual([name, []])
    }
  })
})
