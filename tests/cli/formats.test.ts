import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { file, moduleOf, openaiMessage, openaiReply, toolwright } from './_command.ts'

const formats = moduleOf('formats.ts')
const timeout = 60_000
const acmeTurn = JSON.stringify({ speaker: 'acme', parts: [{ ask: 'add', ref: 'r1', args: { a: 1, b: 2 } }] })
const acmeReply = { speaker: 'host', answers: [{ ref: 'r1', words: '3', failed: false }] }

/** A module with one tool and these further exports. */
function moduleWith(name: string, code: string): string {
  return file(
    name,
    `import { tool } from ${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))}
    export const add = tool('add', ({ a, b }) => a + b)
    const members = {
      name: 'acme',
      detect: (message) => message.speaker === 'acme',
      definitions: (tools) => tools.map(({ name }) => ({ name })),
      calls: ({ parts }) => parts.map(({ ask, ref, args }) => ({ id: ref, name: ask, args })),
      results: (results) => results.map(({ content }) => content),
    }
    ${code}`,
  )
}

describe.concurrent('a format that the module exports', { timeout }, () => {
  test('answers a message by its name, and is found by the message', async () => {
    const [named, found] = await Promise.all([
      toolwright(['run', formats, '--format', 'acme'], acmeTurn),
      toolwright(['run', formats], acmeTurn),
    ])
    expect(named).toEqual({ code: 0, stdout: `${JSON.stringify(acmeReply)}\n`, stderr: '' })
    expect(found).toEqual(named)
  })

  test('prints definitions, and what schemas lose in its dialect', async () => {
    const [list, check] = await Promise.all([
      toolwright(['list', formats, '--format', 'acme']),
      toolwright(['check', formats, '--format', 'acme', '--json']),
    ])
    expect(JSON.parse(list.stdout)).toMatchObject([{ tool: 'add', about: 'Adds two numbers' }])
    expect(JSON.parse(check.stdout)).toEqual({
      acme: [
        {
          toolName: 'add',
          schema: 'lowered',
          losses: [
            { pointer: '/properties/b/multipleOf', keyword: 'multipleOf', done: 'in words', note: 'A multiple of 2.' },
          ],
        },
      ],
    })
    expect([list.code, check.code]).toEqual([0, 0])
  })

  test('gives way to a built-in one of its name, and that is told', async () => {
    const { code, stdout, stderr } = await toolwright(['run', formats], openaiMessage(['add', { a: 1, b: 2 }]))
    expect([code, openaiReply(stdout)]).toEqual([0, ['3']])
    expect(stderr).toMatch(
      /^toolwright: the built-in format openai is used, and not chat of \S+formats\.ts, which has /,
    )
  })

  test('may be exported under several names', async () => {
    const twice = moduleWith(
      'twice.mjs',
      'export const format = members; export { format as other }; export default { format }',
    )
    expect(await toolwright(['run', twice, '--format', 'acme'], acmeTurn)).toEqual({
      code: 0,
      stdout: '[[{"type":"text","text":"3"}]]\n',
      stderr: '',
    })
  })

  test('is told in the help and on the page', async () => {
    const helps = await Promise.all(['run', 'list', 'check'].map((name) => toolwright([name, '--help'])))
    for (const { stdout } of helps) expect(stdout).toMatch(/the name of a format that the module\s+exports/)
    const page = readFileSync(join(import.meta.dirname, '../../src/formats/README.md'), 'utf8')
    expect(page).toMatch(/--format acme/)
  })
})

describe.concurrent('a format that there is not, or that is none,', { timeout }, () => {
  const asked = ['--format', 'acme']
  const cases: readonly (readonly [title: string, code: string, says: RegExp])[] = [
    ['nothing', '', /There is no format "acme"\. Known are anthropic, openai, .*; \S*\.mjs exports no other\.$/m],
    [
      'another format',
      "export const other = { ...members, name: 'zeta' }",
      /There is no format "acme"\. Known are anthropic, .*, openai@xai, and of \S*\.mjs: zeta\.$/m,
    ],
    [
      'two formats of one name',
      'export const one = members, two = { ...members }',
      /E_INVALID_CONFIGURATION: \S*\.mjs exports two formats named "acme", in one and in two\. Give each a name/,
    ],
    [
      'a name that cannot be read',
      "export const acme = { ...members, get name() { throw new Error('not for you') } }",
      /exports acme, which has the members of a format, but its "name" cannot be read: not for you\./,
    ],
    [
      'a function that cannot be read',
      'export const acme = { ...members, get calls() { throw null } }',
      /its "calls" cannot be read: null\./,
    ],
    ['a name that is no text', 'export const acme = { ...members, name: 7 }', /its "name" is no text\./],
    ['a function that is none', 'export const acme = { ...members, calls: [] }', /its "calls" is no function\./],
    [
      'a value that throws at every turn',
      'const no = () => { throw 1 }; export const acme = new Proxy({}, { get: no, has: no, getPrototypeOf: no, ownKeys: no })',
      /There is no format "acme"/,
    ],
    [
      'a field of the default export that cannot be read',
      "export default { get formats() { throw new Error('not for you') } }",
      /the field "formats" of its default export cannot be read: not for you\n.*There is no format "acme"/,
    ],
    [
      'an array that cannot be read',
      "export const formats = Object.defineProperty([0], 0, { get() { throw new Error('no') } })",
      /There is no format "acme"/,
    ],
  ]

  test.each(cases.map((each, index) => [index, ...each] as const))(
    '%i: %s is refused in words',
    async (index, _, code, says) => {
      const {
        code: exit,
        stdout,
        stderr,
      } = await toolwright(['list', moduleWith(`wrong-${index}.mjs`, code), ...asked])
      expect(stderr).toMatch(says)
      expect(stderr).toMatch(/^(?:toolwright: [^\n]+\n){1,2}$/)
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    },
  )

  const failing: readonly (readonly [title: string, members: string, words: string[], says: RegExp])[] = [
    ['that throws while it looks', "detect() { throw new Error('dizzy') }", ['run'], /"detect" failed: dizzy\.$/m],
    [
      'that looks later',
      'detect: async () => true',
      ['run'],
      /"detect" returned a value of type object that is no boolean\./,
    ],
    ['that throws while it reads', 'calls() { throw null }', ['run', ...asked], /"calls" failed: null/],
    [
      'that reads no list',
      'calls: () => ({ length: 1 })',
      ['run', ...asked],
      /"calls" returned .* that is no list of calls\./,
    ],
    [
      'whose definitions are none',
      'definitions: () => 7',
      ['list', ...asked],
      /"definitions" returned .* number that is no list of JSON\./,
    ],
    [
      'whose definitions are no JSON',
      'definitions: () => [1n]',
      ['list', ...asked],
      /"definitions" failed: TypeError: .*BigInt/,
    ],
    [
      'whose reports are none',
      'report: () => [{}]',
      ['check', ...asked],
      /"report" returned .* that is no list of reports\./,
    ],
    [
      'that is to be strict',
      'report: () => []',
      ['list', ...asked, '--strict'],
      /--strict does not go with the format "acme"/,
    ],
  ]

  test.each(failing.map((each, index) => [index, ...each] as const))(
    '%i: one %s is told in words',
    async (index, _, members, words, says) => {
      const path = moduleWith(`failing-${index}.mjs`, `export const acme = { ...members, ${members} }`)
      const [command = '', ...rest] = words
      const { code, stdout, stderr } = await toolwright([command, path, ...rest], command === 'run' ? acmeTurn : '')
      expect(stderr).toMatch(says)
      expect(stderr).toMatch(/^(?:toolwright: [^\n]+\n)+$/)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    },
  )

  test.each([
    [
      'throws',
      "results() { throw new Error('lost') }",
      /"results" failed: lost\. The results stand on stdout as they are\./,
    ],
    ['is a promise', 'results: async () => []', /"results" returned .* no JSON\. The results stand/],
    ['is nothing', 'results() {}', /"results" returned .* no JSON\. The results stand/],
  ])('results are printed as they are if the reply %s', async (title, members, says) => {
    const path = moduleWith(`lost-${title.replaceAll(' ', '-')}.mjs`, `export const acme = { ...members, ${members} }`)
    const { code, stdout, stderr } = await toolwright(['run', path, ...asked], acmeTurn)
    expect(JSON.parse(stdout)).toMatchObject([{ id: 'r1', status: 'ok', content: [{ text: '3' }] }])
    expect(stderr).toMatch(says)
    expect(code).toBe(1)
  })

  test('calls that are none get answers, and no crash', async () => {
    const path = moduleWith('calls.mjs', 'export const acme = { ...members, calls: () => [null, 7, {}, { name: 1 }] }')
    const { code, stdout, stderr } = await toolwright(['run', path, ...asked], acmeTurn)
    const [answer] = JSON.parse(stdout) as { text: string }[][]
    expect(answer?.[0]?.text).toBe(
      'A call is an object { name, args } with text as `name`, and not null, so nothing was run.',
    )
    expect([code, stderr]).toEqual([0, ''])
  })
})
