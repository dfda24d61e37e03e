import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync, statSync, chmodSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { createExecutor, type ToolExecutor, type ToolResult } from 'toolwright'
import { workspaceTools } from 'toolwright/builtins/tools'
import { describe, expect, test } from 'vitest'
import { edited, textFileOf } from '../../src/builtins/_edits.ts'
import { missing } from '../servers/bubblewrap.ts'
import { bytes, local, walled, workspace } from './_workspace.ts'

const run = promisify(execFile)

async function over(root: string): Promise<ToolExecutor> {
  return createExecutor({ use: [workspaceTools(await local(root))] })
}

/** Edits a file, and gives what became of it beside what the model reads. */
async function edit(
  text: string,
  ...edits: object[]
): Promise<Pick<ToolResult, 'isError' | 'effect'> & { readonly after: string; readonly said: string }> {
  const { root } = workspace({ f: text })
  const result = await (await over(root)).execute({ name: 'fs_edit', args: { path: 'f', edits } })
  const said = result.content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
  return { after: readFileSync(join(root, 'f'), 'utf8'), said, isError: result.isError, effect: result.effect }
}

describe('fs_edit', () => {
  test.each([
    ['one', 'a b c', [{ old: 'b', new: 'x' }], 'a x c'],
    ['a newline', 'a\nb\n', [{ old: 'a\nb', new: 'c' }], 'c\n'],
    [
      'each on the outcome of the one before',
      'a',
      [
        { old: 'a', new: 'bb' },
        { old: 'bb', new: 'c' },
      ],
      'c',
    ],
    ['every one', 'a a a', [{ old: 'a', new: 'aa', all: true }], 'aa aa aa'],
    ['with what looks like a pattern', 'a', [{ old: 'a', new: "$& $1 $$ $` $'" }], "$& $1 $$ $` $'"],
    ['what looks like a pattern', 'x.*y [a] (b) \\d', [{ old: '.*y [a] (b) \\d', new: '' }], 'x'],
    ['the newlines of Windows', 'a\r\nb\r\nc\r\n', [{ old: 'a\nb', new: 'x\ny' }], 'x\r\ny\r\nc\r\n'],
    ['those that a model wrote out', 'a\r\nb\r\n', [{ old: 'a\r\nb', new: 'x\r\ny' }], 'x\r\ny\r\n'],
    ['behind a byte order mark', '\ufeffa', [{ old: 'a', new: 'b' }], '\ufeffb'],
    ['characters of two units', '😀 a 😀', [{ old: 'a 😀', new: '🎉' }], '😀 🎉'],
    ['nothing but whitespace', 'a\tb', [{ old: '\t', new: '  ' }], 'a  b'],
  ])('replaces %s', async (_, text, edits, after) => {
    expect(await edit(text, ...edits)).toMatchObject({ after, isError: false })
  })

  test.each([
    ['no match', 'a', { old: 'b', new: 'c' }, /does not have this text\. Nothing was changed/],
    [
      'the nearest line',
      'function one() {\n  return  1\n}\n',
      { old: 'function one() {\n return 1', new: '' },
      /nearest line is 1: \\?"function one/,
    ],
    ['several matches', 'x\nb x\nx\n', { old: 'x', new: 'y' }, /3 times, at lines 1, 2, 3.*`all`/s],
    ['nothing to replace', 'a', { old: '', new: 'c' }, /`old` is empty/],
    ['no change', 'a', { old: 'a', new: 'a' }, /are the same/],
    ['tabs', '\tif (x)\n', { old: '    if (x)', new: '' }, /indented with tabs/],
    ['both kinds of newlines', 'a\r\nb\nc', { old: 'b\nd', new: '' }, /\\r\\n, others with/],
    ['the number of a line', 'const a = 1\n', { old: '1\tconst a = 1', new: '' }, /begin with a line number/],
  ])('tells the model of %s', async (_, text, wrong, words) => {
    const { after, said, isError, effect } = await edit(text, wrong)
    expect([after, isError, effect]).toEqual([text, true, 'none'])
    expect(said).toMatch(words)
  })

  test('makes none of several edits if one does not fit, and says which', async () => {
    const { after, said } = await edit('a b', { old: 'a', new: 'x' }, { old: 'z', new: 'y' })
    expect(after).toBe('a b')
    expect(said).toContain('Edit 2')
  })

  test('gives the number of replacements, and a short diff', async () => {
    const { said } = await edit('one\ntwo\nthree\n', { old: 'two', new: '2\n2' })
    expect(JSON.parse(said)).toMatchObject({ data: { path: 'f', replaced: 1, diff: '@@ line 2 @@\n-two\n+2\n+2\n' } })
    const large = await edit('x\n'.repeat(5_000), { old: 'x', new: 'y'.repeat(50), all: true })
    expect((JSON.parse(large.said) as { data: { diff: string } }).data.diff.length).toBeLessThanOrEqual(4_096)
  })

  test('refuses what is not UTF-8, or too large, and keeps the mode', async () => {
    const { root } = workspace({ run: 'a' })
    writeFileSync(join(root, 'latin'), Buffer.from('caf\xe9', 'latin1'))
    writeFileSync(join(root, 'large'), Buffer.alloc(8_400_000, 'a'))
    chmodSync(join(root, 'run'), 0o755)
    const executor = await over(root)
    for (const path of ['latin', 'large']) {
      const { isError, error } = await executor.execute({
        name: 'fs_edit',
        args: { path, edits: [{ old: 'caf', new: 'x' }] },
      })
      expect(isError, path).toBe(true)
      expect(error?.message).toMatch(/not valid UTF-8|too large to edit/)
    }
    await executor.execute({ name: 'fs_edit', args: { path: 'run', edits: [{ old: 'a', new: 'b' }] } })
    expect(statSync(join(root, 'run')).mode & 0o777).toBe(0o755)
  })

  test('a process of 128 MB replaces 100,000 texts of one line of 1 MB, and refuses more, and an outcome that is too large', async () => {
    const { root } = workspace({ many: 'value(1),x'.repeat(100_000), more: 'a;'.repeat(500_000) })
    const flags = ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
    const { stdout } = await run(process.execPath, [...flags, join(import.meta.dirname, '_edit-all.ts'), root])
    const outcomes = stdout.trim().split('\n')
    const said = outcomes.map((each) => JSON.parse(each) as unknown)
    expect(said).toEqual([
      { replaced: 100_000, diff: expect.stringMatching(/^@@ line 1 @@\n-value\(1\),x.{4000,}…\n$/s) },
      expect.stringContaining('more than 100,000 times'),
      expect.stringMatching(/would have [\d,]+ bytes: more than 8,388,608. Nothing was changed/),
    ])
    expect(readFileSync(join(root, 'many'), 'utf8')).toBe('value(2),x'.repeat(100_000))
    expect(readFileSync(join(root, 'more'), 'utf8')).toBe('a;'.repeat(500_000))
  })

  test('numbers the lines of every place that its diff shows', async () => {
    const { said } = await edit('a\nb\na\n\na a\n', { old: 'a', new: 'c', all: true })
    const { data } = JSON.parse(said) as { data: { diff: string } }
    expect(data.diff.match(/line \d+/g)).toEqual(['line 1', 'line 3', 'line 5', 'line 5'])
  })

  test('measures the outcome in bytes, as the file is measured when it is read', async () => {
    const { after, said } = await edit('a'.repeat(80_000), { old: 'a', new: 'å'.repeat(60), all: true })
    expect(said).toContain('would have 9,600,000 bytes')
    expect(after).toBe('a'.repeat(80_000))
  })

  test('refuses a file that changed since the session read it, and takes one that it never read', async () => {
    const { root } = workspace({ f: 'one' })
    const executor = await over(root)
    const change = (path: string, old: string, fresh: string): ReturnType<ToolExecutor['execute']> =>
      executor.execute({ name: 'fs_edit', args: { path, edits: [{ old, new: fresh }] } })
    expect((await change('f', 'one', 'two')).isError).toBe(false)
    writeFileSync(join(root, 'f'), 'two, of another')
    expect((await change('f', 'two', 'three')).error?.message).toContain('changed since')
    await executor.execute({ name: 'fs_read', args: { path: 'f' } })
    expect((await change('f', 'two', 'three')).isError).toBe(false)
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('three, of another')
  })

  test('20 edits of one file at once are all made', async () => {
    const { root } = workspace({ f: Array.from({ length: 20 }, (_, index) => `<${index}>`).join('') })
    const executor = await over(root)
    const calls = Array.from({ length: 20 }, (_, index) => ({
      name: 'fs_edit',
      args: { path: 'f', edits: [{ old: `<${index}>`, new: `[${index}]` }] },
    }))
    await Promise.all(calls.map((call) => executor.execute(call)))
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(Array.from({ length: 20 }, (_, index) => `[${index}]`).join(''))
  })

  test('agrees with a plain replacement, whatever the texts', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', ' ', '$&', '$1', 'å', '😀', '\\')
    const text = fc.array(piece, { maxLength: 30 }).map((each) => each.join(''))
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    console.log(`seed ${seed}`)
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (whole, old, fresh, all) => {
        const file = textFileOf(bytes(whole), 'f')
        const count = old === '' ? 0 : whole.split(old).length - 1
        fc.pre(!file.isCrlf)
        const make = (): string => edited(file, [{ old, new: fresh, all }], 'f').text
        if (old === '' || old === fresh || count === 0 || (count > 1 && !all))
          expect(make).toThrow(/Nothing was changed|the same/)
        else expect(make()).toBe(whole.split(old).join(fresh))
      }),
      { seed, numRuns: 5_000 },
    )
  })
})

describe('fs_multi_edit', () => {
  test.for([
    ['localSandbox', undefined, local],
    ['bubblewrap', missing, walled],
  ] as const)('a file that fs_write made is edited, and edited again, in %s (%s)', async ([, lack, open], { skip }) => {
    skip(lack !== undefined, lack)
    const { root } = workspace()
    const executor = createExecutor({ use: [workspaceTools(await open(root))] })
    for (const path of Array.from({ length: 20 }, (_, index) => `new/${index}`)) {
      const calls = [
        { name: 'fs_write', args: { path, content: 'one' } },
        { name: 'fs_edit', args: { path, edits: [{ old: 'one', new: 'two' }] } },
        { name: 'fs_multi_edit', args: { edits: [{ path, old: 'two', new: 'three' }] } },
      ]
      for (const call of calls) expect((await executor.execute(call)).error?.message).toBeUndefined()
      expect(readFileSync(join(root, path), 'utf8')).toBe('three')
    }
  })

  test('changes several files, several times each', async () => {
    const { root } = workspace({ a: '1', b: '1' })
    const edits = [
      { path: 'a', old: '1', new: '2' },
      { path: 'b', old: '1', new: 'x' },
      { path: './a', old: '2', new: '3' },
    ]
    const result = await (await over(root)).execute({ name: 'fs_multi_edit', args: { edits } })
    expect(result.content).toMatchObject([
      {
        data: {
          files: [
            { path: 'a', replaced: 2 },
            { path: 'b', replaced: 1 },
          ],
        },
      },
    ])
    expect(['a', 'b'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['3', 'x'])
  })

  test('writes nothing if one edit of one file does not fit', async () => {
    const { root } = workspace({ a: '1', b: '1' })
    const edits = [
      { path: 'a', old: '1', new: '2' },
      { path: 'b', old: '9', new: 'x' },
    ]
    const { isError } = await (await over(root)).execute({ name: 'fs_multi_edit', args: { edits } })
    expect(isError).toBe(true)
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('1')
  })

  test('refuses files that are too large together, before it writes one', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { root } = workspace(Object.fromEntries(names.map((name) => [name, `1${' '.repeat(8_000_000)}`])))
    const edits = names.map((path) => ({ path, old: '1', new: '2' }))
    const { error, effect } = await (await over(root)).execute({ name: 'fs_multi_edit', args: { edits } })
    expect(effect).toBe('none')
    expect(error?.message).toContain('more than 67,108,864 bytes together. Nothing was changed')
    for (const name of names) expect(readFileSync(join(root, name), 'latin1').startsWith('1')).toBe(true)
  })

  test('names what was written if a later file cannot be', async () => {
    const { root } = workspace({ a: '1', '.envrc': '1' })
    const edits = [
      { path: 'a', old: '1', new: '2' },
      { path: '.envrc', old: '1', new: 'x' },
    ]
    const { error } = await (await over(root)).execute({ name: 'fs_multi_edit', args: { edits } })
    expect(error?.message).toContain('Already written: "a"')
  })
})
