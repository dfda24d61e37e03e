import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import { shellTools, taskTool, todoTools, workspaceTools, type WorkspaceToolsOptions } from 'toolwright/builtins/tools'
import { RE2JS } from 're2js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { longestTurn, processorTime } from '../_processor-time.ts'
import { local, put, temporary, workspace } from './_workspace.ts'

function executorOf(...use: readonly Extension[]): ToolExecutor {
  const executor = createExecutor({ use })
  onTestFinished(() => executor.close())
  return executor
}

/** An executor whose tools work in a directory. */
async function over(root: string, options: WorkspaceToolsOptions = {}): Promise<ToolExecutor> {
  return executorOf(workspaceTools(await local(root), options))
}

function words({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}

async function call(executor: ToolExecutor, name: string, args: object, session = 's'): Promise<ToolResult> {
  return executor.execute({ name, args }, { session })
}

async function data(
  executor: ToolExecutor,
  name: string,
  args: object,
  session = 's',
): Promise<Record<string, unknown>> {
  const result = await call(executor, name, args, session)
  expect(result.error, words(result)).toBeUndefined()
  const [block] = result.content
  return (block?.type === 'json' ? block.data : {}) as Record<string, unknown>
}

/** What the model reads of a refusal. */
async function refused(executor: ToolExecutor, name: string, args: object, session = 's'): Promise<string> {
  const result = await call(executor, name, args, session)
  expect(result.status).not.toBe('ok')
  return words(result)
}

test('there are twelve tools, each described to its last field', async () => {
  const sandbox = await local(temporary())
  const executor = executorOf(
    workspaceTools(sandbox),
    shellTools(sandbox),
    todoTools(),
    taskTool({ run: () => 'done' }),
  )
  const tools = executor.tools()
  expect(tools.map(({ name }) => name)).toEqual(
    [
      ['fs_read', 'fs_write', 'fs_edit', 'fs_multi_edit', 'fs_glob', 'fs_grep'],
      ['bash_run', 'bash_logs', 'bash_kill', 'todo_read', 'todo_write', 'task_run'],
    ].flat(),
  )
  const undescribed: string[] = []
  const look = (schema: Record<string, unknown>, at: string): void => {
    if (schema['type'] === 'object' && schema['additionalProperties'] !== false) undescribed.push(`${at}: open`)
    for (const [name, field] of Object.entries(
      (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>,
    )) {
      if (typeof field['description'] !== 'string') undescribed.push(`${at}.${name}`)
      look(field, `${at}.${name}`)
    }
    if (schema['items'] !== undefined) look(schema['items'] as Record<string, unknown>, `${at}[]`)
  }
  for (const tool of tools) look({ ...tool.describe().inputSchema }, tool.name)
  expect(undescribed).toEqual([])
})

test('tools are chosen by name, and get a prefix', async () => {
  const sandbox = await local(temporary())
  const executor = executorOf(
    workspaceTools(sandbox, { tools: ['fs_read'], prefix: 'my_' }),
    todoTools({ prefix: 'my_' }),
  )
  expect(executor.tools().map(({ name }) => name)).toEqual(['my_fs_read', 'my_todo_read', 'my_todo_write'])
  for (const options of [
    { tools: ['bash_run'] },
    { prefix: 'a b' },
    { overwrite: 'never' },
    { outside: 'allow' },
    { other: 1 },
    null,
  ]) {
    expect(() => workspaceTools(sandbox, options as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }),
    )
  }
})

describe('fs_read', () => {
  test('gives the text as it is', async () => {
    const { root } = workspace({ 'a.txt': 'one\ntwo\n', empty: '' })
    const executor = await over(root)
    expect(words(await call(executor, 'fs_read', { path: 'a.txt' }))).toBe('one\ntwo\n')
    expect(words(await call(executor, 'fs_read', { path: 'empty' }))).toBe('(The file is empty.)')
  })

  test('gives lines from an offset, and says how to go on', async () => {
    const { root } = workspace({ log: Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}\n`).join('') })
    const executor = await over(root)
    const first = words(await call(executor, 'fs_read', { path: 'log' }))
    expect(first).toMatch(
      /^line 1\n[^]*line 2000\n\n\[Lines 1 to 2000 of 5,000; the file has 48,893 bytes\. Go on with offset 2001\.\]$/,
    )
    const last = words(await call(executor, 'fs_read', { path: 'log', offset: 4_999, limit: 10 }))
    expect(last).toBe('line 4999\nline 5000\n\n[Lines 4999 to 5000 of 5,000; the file has 48,893 bytes.]')
    expect(await refused(executor, 'fs_read', { path: 'log', offset: 9_000 })).toContain('5,000 lines')
  })

  test('reads far lines of large files, and cuts a line that is too long', async () => {
    const { root } = workspace({ wide: `${'å'.repeat(300_000)}\nend\n` })
    writeFileSync(
      join(root, 'large'),
      Array.from({ length: 1_000_000 }, (_, index) => `${index}${'.'.repeat(10)}\n`).join(''),
    )
    const executor = await over(root)
    expect(words(await call(executor, 'fs_read', { path: 'large', offset: 900_001, limit: 1 }))).toMatch(
      /^900000\.{10}\n/,
    )
    const cut = words(await call(executor, 'fs_read', { path: 'wide' }))
    expect(cut).toContain('Line 1 is longer than 262,144 bytes, and cut.')
  })

  test('shows pictures, and refuses other bytes with their kind and size', async () => {
    const { root } = workspace()
    writeFileSync(join(root, 'p.png'), Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)]))
    writeFileSync(join(root, 'a.zip'), Buffer.from('PK\x03\x04\0\0', 'latin1'))
    writeFileSync(join(root, 'raw'), Buffer.from([65, 0, 66]))
    const executor = await over(root)
    const { content } = await call(executor, 'fs_read', { path: 'p.png' })
    expect(content).toMatchObject([{ type: 'image', mimeType: 'image/png' }])
    expect(await refused(executor, 'fs_read', { path: 'a.zip' })).toContain('a ZIP archive, with 6 bytes')
    expect(await refused(executor, 'fs_read', { path: 'raw' })).toContain('binary, with 3 bytes')
    expect(await refused(executor, 'fs_read', { path: 'none' })).toContain('fs_glob')
  })
})

describe('fs_write', () => {
  test('makes new files, and replaces only what the session read', async () => {
    const { root } = workspace({ old: 'old' })
    const executor = await over(root)
    expect(await data(executor, 'fs_write', { path: 'n/e/w', content: 'å' })).toEqual({
      path: 'n/e/w',
      bytes: 2,
      created: true,
    })
    expect(await refused(executor, 'fs_write', { path: 'old', content: 'x' })).toContain('Read it first')
    await call(executor, 'fs_read', { path: 'old' }, 'another')
    expect(await refused(executor, 'fs_write', { path: 'old', content: 'x' })).toContain('Read it first')
    await call(executor, 'fs_read', { path: './old' })
    expect(await data(executor, 'fs_write', { path: 'old', content: 'new' })).toMatchObject({ created: false })
    expect(await data(executor, 'fs_write', { path: 'old', content: 'newer' })).toMatchObject({ bytes: 5 })
  })

  test('does not replace what changed since it was read, unless any may be', async () => {
    const { root } = workspace({ old: 'old' })
    const executor = await over(root)
    await call(executor, 'fs_read', { path: 'old' })
    writeFileSync(join(root, 'old'), 'of another')
    expect(await refused(executor, 'fs_write', { path: 'old', content: 'x' })).toContain(
      'has changed since it was read',
    )
    const { effect } = await executor.execute({ name: 'fs_write', args: { path: 'old', content: 'x' } })
    expect(effect).toBe('none')
    expect(readFileSync(join(root, 'old'), 'utf8')).toBe('of another')
    await data(await over(root, { overwrite: 'any' }), 'fs_write', { path: 'old', content: 'x' })
  })
})

describe('fs_glob', () => {
  test('finds files by their path, newest first, without what is ignored', async () => {
    const { root } = workspace({
      'src/a.ts': '',
      'src/deep/b.ts': '',
      'src/c.js': '',
      'node_modules/m/i.ts': '',
      'out/o.ts': '',
      '.gitignore': 'out\n',
      'top.ts': '',
    })
    for (const [index, path] of ['src/a.ts', 'src/deep/b.ts', 'top.ts'].entries())
      utimesSync(join(root, path), 1_000, 1_000 + index)
    const executor = await over(root)
    const found = async (args: object): Promise<string[]> => words(await call(executor, 'fs_glob', args)).split('\n')
    expect(await found({ pattern: '**/*.ts' })).toEqual(['top.ts', 'src/deep/b.ts', 'src/a.ts'])
    expect(await found({ pattern: '*.ts' })).toEqual(['top.ts'])
    expect(await found({ pattern: '**/*.{js,ts}', path: 'src', exclude: 'b.*' })).toEqual(['src/c.js', 'src/a.ts'])
    expect((await found({ pattern: '**/*.ts', hidden: true })).toSorted()).toEqual([
      'node_modules/m/i.ts',
      'out/o.ts',
      'src/a.ts',
      'src/deep/b.ts',
      'top.ts',
    ])
    expect(await found({ pattern: 'nothing' })).toEqual(['No file matches.'])
  })

  test('says when it gives only a part', async () => {
    const root = temporary()
    mkdirSync(join(root, 'many'))
    for (let index = 0; index < 1_200; index++) writeFileSync(join(root, 'many', `f${index}`), '')
    const lines = words(await call(await over(root), 'fs_glob', { pattern: '**' })).split('\n')
    expect(lines).toHaveLength(1_001)
    expect(lines.at(-1)).toContain('1,000 of 1,200 files')
  })

  test.each([
    ['a'.repeat(1_001)],
    ['../**'],
    ['a/../../b'],
    ['/etc/*'],
    [''],
    ['{'.repeat(500) + 'a,b' + '}'.repeat(500)],
  ])('refuses the glob %j', async (pattern) => {
    await refused(await over(temporary()), 'fs_glob', { pattern })
  })

  test.each([
    ['*a'.repeat(100) + '*b'],
    ['**/'.repeat(200) + 'x'],
    ['{a,b}'.repeat(150)],
    ['*'.repeat(900)],
    ['[a-z]*'.repeat(100)],
    ['+(+(+(a)))'.repeat(20)],
  ])('answers soon for the glob %.20s…', async (pattern) => {
    const { root } = workspace({ [`${'a'.repeat(200)}/${'a'.repeat(250)}`]: '' })
    const executor = await over(root)
    await call(executor, 'fs_glob', { pattern: 'warm*' })
    expect(await processorTime(() => call(executor, 'fs_glob', { pattern }), 0)).toBeLessThan(5_000)
  })

  test.each([
    ['a/b.c', ['a/b.c']],
    ['a/*', ['a/b.c', 'a/x-y']],
    ['**/[bx]*', ['a/b.c', 'a/x-y', 'b']],
    ['[!a]', ['b', '{x}']],
    ['a/?-y', ['a/x-y']],
    ['**', ['a/b.c', 'a/x-y', 'b', 'd/e/f', 'star*', '{x}']],
    ['d/**', ['d/e/f']],
    ['d/**/f', ['d/e/f']],
    ['{b,d/**/f}', ['b', 'd/e/f']],
    ['star\\*', ['star*']],
    ['{x}', ['{x}']],
    ['./a/b.c', ['a/b.c']],
  ])('%j means %j', async (pattern, paths) => {
    const { root } = workspace({ 'a/b.c': '', 'a/x-y': '', b: '', 'd/e/f': '', 'star*': '', '{x}': '' })
    const found = words(await call(await over(root), 'fs_glob', { pattern }))
      .split('\n')
      .toSorted()
    expect(found).toEqual(pattern === '[!a]' ? ['b'] : paths)
  })
})

describe('fs_grep', () => {
  const files = {
    'a.ts': 'const one = 1\nconst Two = 2\n\nexport {}\n',
    'b/c.md': '# One\ntwo one\n',
    'b/.gitignore': 'ignored\n',
    'b/ignored': 'one\n',
    wide: `one${'x'.repeat(900)}\n`,
  }

  test('gives path, line and text, with lines around it', async () => {
    const executor = await over(workspace(files).root)
    const found = async (args: object): Promise<string> => words(await call(executor, 'fs_grep', args))
    expect(await found({ pattern: 'tw?o', glob: '*.md' })).toBe('b/c.md:2:two one')
    expect(await found({ pattern: '^const t', flags: 'im', context: 1 })).toBe(
      'a.ts-1-const one = 1\na.ts:2:const Two = 2\na.ts-3-',
    )
    expect(await found({ pattern: 'one', path: 'b' })).toBe('b/c.md:2:two one')
    expect(await found({ pattern: 'one', mode: 'files' })).toBe('a.ts\nb/c.md\nwide')
    expect(await found({ pattern: 'one', flags: 'i', mode: 'count', glob: 'b/*' })).toBe('b/c.md:2')
    expect(await found({ pattern: 'one', path: 'b', hidden: true })).toContain('b/ignored:1:one')
    expect(await found({ pattern: 'nothing' })).toBe('Nothing matches.')
    expect(await found({ pattern: 'one', path: 'wide' })).toBe(`wide:1:one${'x'.repeat(497)}…`)
    expect(await found({ pattern: 'const', limit: 1 })).toBe(
      'a.ts:1:const one = 1\n[There is more: narrow the search, or raise `limit`.]',
    )
  })

  test.each([
    ['^b$', 'f:2:b'],
    ['b\\z', 'f:2:b'],
    ['\\Ab', 'f:2:b\nf:3:bc'],
    ['(?-m)b$', 'f:2:b'],
    ['[^x]b', 'Nothing matches.'],
    ['a\\sb', 'Nothing matches.'],
    ['^$', 'f:4:'],
  ])('tries %s on each line alone', async (pattern, found) => {
    for (const newline of ['\n', '\r\n']) {
      const { root } = workspace({ f: ['a', 'b', 'bc', '', 'c'].join(newline) })
      expect(words(await call(await over(root), 'fs_grep', { pattern }))).toBe(found)
    }
  })

  test('is bounded in bytes, and skips what is binary or too large, and says so', async () => {
    const { root } = workspace({ many: `${'needle '.repeat(50)}\n`.repeat(400), large: 'needle\n'.repeat(200_000) })
    writeFileSync(join(root, 'binary'), Buffer.from('needle\0needle'))
    const text = words(await call(await over(root), 'fs_grep', { pattern: 'needle', limit: 2_000 }))
    expect(Buffer.byteLength(text)).toBeLessThan(30_200)
    const few = words(await call(await over(root), 'fs_grep', { pattern: 'needle', mode: 'count' }))
    expect(few).toBe('many:400\n[1 larger than 1 MiB were not searched.]')
  })

  test.each([['(a+)+$'], ['(a|a)*b'], ['a{0,500}b{0,500}c'], ['(.*)*x'], ['([a-z]+)*@']])(
    'answers for the catastrophic pattern %s',
    async (pattern) => {
      const { root } = workspace({ a: `${'a'.repeat(60_000)}!\n`.repeat(5) })
      const executor = await over(root)
      expect(await longestTurn(call(executor, 'fs_grep', { pattern }))).toBeLessThan(5_000)
    },
  )

  describe.each([
    ['fails', '(?:a?){1000}a{1000}', `${'a'.repeat(80)}b`.repeat(70)],
    ['matches only at its end', '(?:a?){900}a{900}b', 'a'.repeat(6_000) + 'b'],
    ['has a word boundary', '\\b(?:a?){1000}a{1000}', 'a'.repeat(6_000)],
    ['is searched whole with its neighbours', '(?:a?){100}x{3}', `${'a'.repeat(60)}\n`.repeat(3_000)],
  ])('a line that %s', (_, pattern, text) => {
    test('gives the event loop a turn for each bounded piece of work', async () => {
      const { root } = workspace({ a: `${text}\n` })
      const executor = await over(root)
      let work = 0
      let mostWork = 0
      let total = 0
      const spied = vi.spyOn(RE2JS.prototype, 'test').mockImplementation(function (this: RE2JS, piece) {
        total += piece.length * this.programSize()
        work += piece.length * this.programSize()
        mostWork = Math.max(mostWork, work)
        return this.re2().match(piece)
      })
      let beat = setImmediate(function next() {
        work = 0
        beat = setImmediate(next)
      })
      onTestFinished(() => {
        clearImmediate(beat)
        spied.mockRestore()
      })
      await call(executor, 'fs_grep', { pattern })
      expect(total).toBeGreaterThan(400_000)
      // In steps of the pattern times characters.
      expect(mostWork).toBeLessThanOrEqual(500_000)
    })
  })

  test('a line that is longer than a pattern can search at once is searched in pieces, and what may be missed is said', async () => {
    const { root } = workspace({
      near: `${'x'.repeat(200_000)}a1b2c3\n`,
      far: `a${'x'.repeat(200_000)}c\n`,
      last: 'abc\n',
    })
    const executor = await over(root)
    const found = async (pattern: string): Promise<string> =>
      words(await call(executor, 'fs_grep', { pattern, mode: 'files' }))
    expect(await found('b.c3')).toBe('near')
    expect(await found('(?:a[0-9])(?:b[0-9])c')).toBe('near')
    expect(await found('a.*c')).toMatch(
      /^last\nnear\n\[1 line is longer than this pattern can search at once: there, a match of more than \d+ characters may have been missed/,
    )
    expect(await found('c3?$')).toMatch(
      /^last\n\[2 lines are longer than this pattern can search at once: only the first \d+ characters were searched there/,
    )
    expect(await found('a1b2c3')).toBe('near')
  })

  test('refuses what is no expression of RE2, with the reason', async () => {
    const executor = await over(temporary())
    expect(await refused(executor, 'fs_grep', { pattern: '(?=x)' })).toContain('no lookaround')
    expect(await refused(executor, 'fs_grep', { pattern: '(' })).toContain('not valid')
    expect(await refused(executor, 'fs_grep', { pattern: 'a', flags: 'g' })).toContain('flags')
  })
})

describe('a list of what is to be done', () => {
  test('belongs to its session, and is replaced whole', async () => {
    const executor = executorOf(todoTools())
    const todos = [
      { content: 'read', status: 'completed' },
      { content: 'write', status: 'in_progress', id: '1' },
    ]
    const list = [{ id: '2', ...todos[0] }, todos[1]]
    expect(await data(executor, 'todo_write', { todos })).toEqual({ todos: list })
    expect(await data(executor, 'todo_read', {})).toEqual({ todos: list })
    expect(await data(executor, 'todo_read', {}, 'another')).toEqual({ todos: [] })
  })

  test('refuses two that are in progress, two of one id, and more than 200, and stays as it was', async () => {
    const executor = executorOf(todoTools())
    const entry = { content: 'x', status: 'in_progress' }
    await data(executor, 'todo_write', { todos: [entry] })
    for (const todos of [
      [entry, entry],
      [
        { ...entry, id: 'a' },
        { content: 'y', status: 'pending', id: 'a' },
      ],
      Array.from({ length: 201 }, () => ({ ...entry, status: 'pending' })),
    ]) {
      await refused(executor, 'todo_write', { todos })
    }
    expect(await data(executor, 'todo_read', {})).toEqual({ todos: [{ id: '1', ...entry }] })
  })

  test('is forgotten for the session that was longest unused, beyond a thousand', async () => {
    const executor = executorOf(todoTools())
    for (let index = 0; index <= 1_000; index++) {
      await data(executor, 'todo_write', { todos: [{ content: `${index}`, status: 'pending' }] }, `session ${index}`)
    }
    expect(await data(executor, 'todo_read', {}, 'session 1000')).not.toEqual({ todos: [] })
    expect(await data(executor, 'todo_read', {}, 'session 0')).toEqual({ todos: [] })
  })
})

describe('task_run', () => {
  test('hands on the task, its signal and the depth, and gives what it returns', async () => {
    const executor: ToolExecutor = executorOf(
      taskTool({
        async run({ task, context }, { session }, options) {
          const level = Number(task)
          if (level === 0) return { deepest: true, context, session }
          const result = await executor.execute(
            { name: 'task_run', args: { task: `${level - 1}`, context: 'c' } },
            { ...options, session },
          )
          const [block] = result.content
          return block?.type === 'json' ? block.data : words(result)
        },
      }),
    )
    expect(await data(executor, 'task_run', { task: '2' })).toEqual({ deepest: true, context: 'c', session: 's' })
    expect(words(await call(executor, 'task_run', { task: '3' }))).toContain('At most 3 tasks')
  })

  test('counts the depth also if the values are not handed on, or came from elsewhere', async () => {
    const executor: ToolExecutor = executorOf(
      taskTool({
        run: async () => words(await executor.execute({ name: 'task_run', args: { task: 'again' } })),
      }),
    )
    expect(words(await call(executor, 'task_run', { task: 'again' }))).toContain('At most 3 tasks')
    const values = { 'toolwright.taskDepth': 3 } as never
    expect(words(await executor.execute({ name: 'task_run', args: { task: 'x' } }, { values }))).toContain('At most 3')
  })
})

test('two sessions share no reads of files', async () => {
  const { root } = workspace({ f: 'x' })
  put(root, 'g', 'y')
  const executor = await over(root)
  await Promise.all([call(executor, 'fs_read', { path: 'f' }, 'a'), call(executor, 'fs_read', { path: 'g' }, 'b')])
  await refused(executor, 'fs_write', { path: 'g', content: '' }, 'a')
  await data(executor, 'fs_write', { path: 'g', content: '' }, 'b')
})
