import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { file, place, toolwright } from './_command.ts'

const packaged = join(import.meta.dirname, '..', '..', 'src', 'skills')
const names = readdirSync(packaged).toSorted()
const textOf = (folder: string, name: string): string => readFileSync(join(folder, name, 'SKILL.md'), 'utf8')

describe.concurrent('toolwright skills', () => {
  test('copies every skill into a folder that it makes, and names what it wrote', async () => {
    const folder = place('skills-new/of/agent')
    const { code, stdout, stderr } = await toolwright(['skills', '--into', folder])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(names.map((name) => `Written: ${join(folder, name, 'SKILL.md')}\n`).join(''))
    expect(readdirSync(folder).toSorted()).toEqual(names)
    for (const name of names) expect(textOf(folder, name)).toBe(textOf(packaged, name))
  })

  test('leaves equal files and those of others, and writes what is missing', async () => {
    const folder = place('skills-partly')
    mkdirSync(join(folder, 'mine'), { recursive: true })
    writeFileSync(join(folder, 'mine', 'SKILL.md'), 'mine')
    await toolwright(['skills', '--into', folder])
    rmSync(join(folder, 'approvals'), { recursive: true })
    const { code, stdout } = await toolwright(['skills', '--into', folder])
    const rest = names.length - 1
    expect(code).toBe(0)
    expect(stdout).toBe(
      `Written: ${join(folder, 'approvals', 'SKILL.md')}\nLeft as they are: ${rest} of ${names.length}\n`,
    )
    expect(textOf(folder, 'mine')).toBe('mine')
  })

  test('overwrites no file that was changed: it names each, and writes none', async () => {
    const folder = place('skills-changed')
    mkdirSync(join(folder, 'approvals'), { recursive: true })
    mkdirSync(join(folder, 'make-a-tool'))
    writeFileSync(join(folder, 'approvals', 'SKILL.md'), 'changed')
    symlinkSync('nowhere', join(folder, 'make-a-tool', 'SKILL.md')) // writing to it would make a file elsewhere
    const { code, stdout, stderr } = await toolwright(['skills', '--into', folder])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`approvals/SKILL.md and make-a-tool/SKILL.md in ${folder} are not as in this version`)
    expect(readdirSync(folder).toSorted()).toEqual(['approvals', 'make-a-tool'])
    expect(textOf(folder, 'approvals')).toBe('changed')
  })

  test.each([
    [[], '--into is missing: the folder in which your agent looks for skills.'],
    [['--into', ''], '--into is missing'],
    [['--into'], "Option '--into <value>' argument missing"],
    [['--force', '--into', place('skills-refused')], "Unknown option '--force'."],
    [['approvals', '--into', place('skills-refused')], '"approvals" is one argument too many.'],
  ])('refuses %j in words, and writes nothing', async (words, message) => {
    const { code, stdout, stderr } = await toolwright(['skills', ...words])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(existsSync(place('skills-refused'))).toBe(false)
  })

  test('refuses a folder that is a file', async () => {
    const path = file('skills-file', '')
    const { code, stderr } = await toolwright(['skills', '--into', path])
    expect(code).toBe(2)
    expect(stderr).toContain(`${path} cannot be used: `)
  })
})
