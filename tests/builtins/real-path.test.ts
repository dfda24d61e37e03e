import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { localSandbox } from 'toolwright/builtins/local'
import { OutsideError } from 'toolwright/builtins/sandbox'
import { describe, expect, test } from 'vitest'
import { byteRules, unixRules } from '../../src/builtins/_path-rules.ts'
import { RealPathDirectory } from '../../src/builtins/_real-path-directory.ts'
import { bytes, canary, local, put, refusalOf, temporary, textOf, workspace } from './_workspace.ts'

const realPath = { paths: 'real-path' } as const

test('a sandbox tells how its paths are kept, and says once that real paths promise nothing about races', async () => {
  const messages: string[] = []
  const report = (message: string): void => void messages.push(message)
  const { root } = workspace()
  const sandboxes = [await localSandbox({ root, report }), await localSandbox({ root, report, ...realPath })]
  expect(sandboxes.map(({ paths, isolation }) => [paths, isolation])).toEqual([
    ['descriptor', 'none'],
    ['real-path', 'none'],
  ])
  expect(messages.map((each) => each.includes('swaps parts of a path'))).toEqual([false, true])
  for (const each of sandboxes) await each.close()
})

test('an unknown way to keep paths is refused', async () => {
  const options = { root: workspace().root, paths: 'lexical' as never }
  await expect(localSandbox(options)).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
})

test('the root may be a link: it is resolved once, and both of its paths are within it', async () => {
  const { root } = workspace({ 'a.txt': 'inside', 'to-a': '-> a.txt' })
  const link = join(temporary(), 'var')
  symlinkSync(root, link)
  const sandbox = await local(link, realPath)
  expect(sandbox.root).toBe(root)
  for (const path of ['a.txt', 'to-a', join(link, 'a.txt'), join(root, 'a.txt')]) {
    expect(await textOf(sandbox, path)).toBe('inside')
  }
  const elsewhere = workspace({ 'a.txt': canary }).root
  rmSync(link)
  symlinkSync(elsewhere, link)
  expect(await textOf(sandbox, 'a.txt')).toBe('inside')
  expect(await textOf(sandbox, join(link, 'a.txt'))).toBe('inside')
})

test.each(['another directory', 'a link', 'nothing'])(
  'a root that was swapped for %s is used no more',
  async (what) => {
    const { root, outside } = workspace({ 'secret.txt': 'inside' })
    const sandbox = await local(root, realPath)
    renameSync(root, `${root}-moved`)
    if (what === 'another directory') put(root, 'secret.txt', canary)
    if (what === 'a link') symlinkSync(outside, root)
    const said = await refusalOf(sandbox.readFile('secret.txt'))
    expect(said).toMatch(what === 'nothing' ? /does not exist/ : /was swapped/)
    await refusalOf(sandbox.writeFile('secret.txt', bytes('overwritten')))
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(canary)
  },
)

describe('what is swapped between a look and the use is found, as far as it is compared:', () => {
  async function held(files: Readonly<Record<string, string>>): Promise<{
    readonly root: string
    readonly outside: string
    readonly top: RealPathDirectory
  }> {
    const { root, outside } = workspace(files)
    return { root, outside, top: await RealPathDirectory.open(root, byteRules) }
  }

  test.each(['a link', 'another file', 'a hard link'])('a file for %s', async (what) => {
    const { root, outside, top } = await held({ file: 'inside' })
    const entry = await top.look('file')
    rmSync(join(root, 'file'))
    if (what === 'a link') symlinkSync(join(outside, 'secret.txt'), join(root, 'file'))
    if (what === 'a hard link') linkSync(join(outside, 'secret.txt'), join(root, 'file'))
    if (what === 'another file') renameSync(join(outside, 'secret.txt'), join(root, 'file'))
    await expect(entry.open()).rejects.toThrow(/ELOOP|swapped/)
  })

  test('the directory of a file for a link', async () => {
    const { root, outside, top } = await held({ 'dir/secret.txt': 'inside' })
    const entry = await (await top.enter('dir')).look('secret.txt')
    renameSync(join(root, 'dir'), join(root, 'moved'))
    symlinkSync(outside, join(root, 'dir'))
    expect(await refusalOf(entry.open())).toContain('swapped')
  })

  test('the directory of a file for a link to where the file is now', async () => {
    const { root, outside, top } = await held({ 'dir/file': 'inside' })
    const entry = await (await top.enter('dir')).look('file')
    renameSync(join(root, 'dir'), join(outside, 'dir'))
    symlinkSync(join(outside, 'dir'), join(root, 'dir'))
    expect(await refusalOf(entry.open())).toContain('swapped')
  })

  test.each(['a link', 'another directory'])('the directory of a new file for %s', async (what) => {
    const { root, outside, top } = await held({ 'dir/file': 'inside' })
    const directory = await top.enter('dir')
    renameSync(join(root, 'dir'), join(root, 'moved'))
    if (what === 'a link') symlinkSync(outside, join(root, 'dir'))
    else mkdirSync(join(root, 'dir'))
    expect(await refusalOf(directory.create('new'))).toContain('swapped')
    expect(await refusalOf(directory.verify())).toContain('swapped')
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(existsSync(join(root, 'dir/new'))).toBe(false)
  })

  test('a directory above for a link to where it is now', async () => {
    const { root, outside, top } = await held({ 'above/dir/file': 'inside' })
    const directory = await (await top.enter('above')).enter('dir')
    renameSync(join(root, 'above'), join(outside, 'above'))
    symlinkSync(join(outside, 'above'), join(root, 'above'))
    expect(await refusalOf(directory.verify())).toContain('swapped')
    expect(await refusalOf(directory.look('file'))).toContain('swapped')
    expect(await refusalOf(directory.create('new'))).toContain('swapped')
    expect(readdirSync(join(outside, 'above/dir'))).toEqual(['file'])
  })

  test('a directory for a link before a name in it is looked at, or entered', async () => {
    const { root, outside, top } = await held({ 'dir/sub/file': 'inside' })
    const directory = await top.enter('dir')
    renameSync(join(root, 'dir'), join(root, 'moved'))
    mkdirSync(join(outside, 'sub'))
    symlinkSync(outside, join(root, 'dir'))
    expect(await refusalOf(directory.look('secret.txt'))).toContain('swapped')
    expect(await refusalOf(directory.enter('sub'))).toContain('swapped')
  })

  test('a directory for a link, which is not entered', async () => {
    const { root, outside, top } = await held({})
    symlinkSync(outside, join(root, 'dir'))
    await expect(top.enter('dir')).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(top.look('missing')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect((await top.look('dir')).open()).rejects.toMatchObject({ code: 'ELOOP' })
  })
})

test.each([
  '.git/config',
  '.GIT/config',
  '.g\u200cit/config',
  '.ｇｉｔ/config',
  'sub/.v\u017fcode/tasks.json',
  '.\u212Angitconfig',
])('a spelling that some file system takes for a protected name is never written: %s', async (path) => {
  const { root } = workspace()
  const sandbox = await local(root, { ...realPath, protect: ['.git', '.vscode', '.kngitconfig'] })
  expect(await refusalOf(sandbox.writeFile(path, bytes('x')))).toContain('protected')
  expect(readdirSync(root)).toEqual([])
})

test('a person grants a path outside, which is kept in the same way', async () => {
  const { root, outside } = workspace({ 'a.txt': 'inside' })
  const sandbox = await local(root, realPath)
  expect(await sandbox.outside?.('a.txt')).toBeNull()
  expect(await sandbox.outside?.('../outside/secret.txt')).toBe(join(outside, 'secret.txt'))
  const grant = await sandbox.grant?.('../outside', { write: false })
  if (grant === undefined) throw new Error('it grants nothing')
  expect(await textOf(grant.files, '../outside/secret.txt')).toBe(canary)
  expect(await refusalOf(grant.files.writeFile('../outside/new', bytes('x')))).toContain('only be read')
  symlinkSync(root, join(outside, 'to-root'))
  await expect(grant.files.readFile('../outside/to-root/a.txt')).rejects.toBeInstanceOf(OutsideError)
  grant.revoke()
})

test('a file system that takes two spellings for one name is found by a look at the root', async () => {
  const sensitive = unixRules(true)
  const insensitive = unixRules(false)
  expect([sensitive.fold('Ä.txt'), insensitive.fold('A\u0308.TXT')]).toEqual(['Ä.txt', 'ä.txt'])
  const sandbox = await local(workspace({ a: 'one' }).root, realPath)
  expect(await sandbox.stat('A')).toBeNull()
  expect(await sandbox.identify?.('a')).not.toBe(await sandbox.identify?.('A'))
})
