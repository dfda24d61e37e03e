import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ended, file, moduleOf, openaiMessage, openaiReply, place, program, start } from './_command.ts'

// `script` of util-linux gives a process a terminal of its own.
const isAvailable = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')
if (!isAvailable) console.warn('The tests of the terminal are skipped: there is no `script` of util-linux.') // oxlint-disable-line eslint/no-console -- a skip says why

const hostile = moduleOf('hostile.ts')
const escape = '\u001B'
let count = 0

interface Seen {
  readonly code: number | null
  /** What the person saw. */
  readonly screen: string
  readonly stdout: string
}

/**
 * Runs the command at a terminal, with stdout in a file.
 *
 * @param typed What the person types, each after the prompt in which these words stand.
 */
async function atTerminal(
  words: readonly string[],
  typed: readonly (readonly [prompt: string, text: string])[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  const stdout = place(`stdout-${count++}`)
  const quoted = [...program, ...words].map((word) => `'${word}'`).join(' ')
  const child = start(['script', '-qec', `${quoted} > '${stdout}'`, '/dev/null'], { TERM: 'xterm-256color', ...env })
  const end = ended(child)
  const rest = [...typed]
  let screen = ''
  child.stdout.on('data', (text: string) => {
    screen += text
    const [next] = rest
    if (next === undefined || !screen.includes(next[0])) return
    screen = ''
    rest.shift()
    child.stdin.write(next[1])
  })
  const { code, stdout: seen } = await end
  return { code, screen: seen, stdout: readFileSync(stdout, 'utf8') }
}

describe.skipIf(!isAvailable)('at a terminal', { timeout: 60_000 }, () => {
  test('a person sees names, states and durations in colour, and the answer goes to stdout alone', async () => {
    const message = file('colours.json', openaiMessage(['double', { value: 1 }], ['throws_null'], ['progresses']))
    const { code, screen, stdout } = await atTerminal(['run', hostile, message])
    expect(code).toBe(0)
    expect(openaiReply(stdout)).toEqual(['2', expect.any(String), 'done'])
    expect(screen).toMatch(
      new RegExp(`${escape}\\[32m✓ double ok${escape}\\[39m ${escape}\\[2m\\d+ ms${escape}\\[22m\r\n`),
    )
    expect(screen).toContain(`${escape}[31m✗ throws_null error${escape}[39m`)
    expect(screen).toContain(`${escape}[2m  progresses: {"step":1}${escape}[22m`)
    expect(screen).not.toContain('tool_call_id')
  })

  test('there are no colours where NO_COLOR is set, or the terminal has none', async () => {
    const message = file('plain.json', openaiMessage(['double', { value: 1 }]))
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const { screen } = await atTerminal(['run', hostile, message], [], env)
      expect(screen).toMatch(/^✓ double ok \d+ ms\r\n$/)
    }
  })

  test('no name, error or progress can make the terminal obey', async () => {
    const message = file(
      'escapes.json',
      openaiMessage(
        [`${escape}[31mx\u009B2J`],
        ['throws_escapes'],
        ['progresses'],
        ['wants_yes', { what: `${escape}[2J` }],
      ),
    )
    const { screen } = await atTerminal(['run', hostile, message], [['[y/N]', 'n\n']], { NO_COLOR: '1' })
    expect(screen).toContain('\\u001b[31mx\\u009b2J error')
    expect(screen).toContain('Really \\u001b[2J? {"what":"\\u001b[2J"} [y/N]')
    // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
    expect(screen).not.toMatch(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/)
  })

  test.for([
    ['y', ['did jump']],
    ['YES', ['did jump']],
    ['n', [expect.stringContaining('denied')]],
    ['', [expect.stringContaining('denied')]],
    ['yesterday', [expect.stringContaining('denied')]],
    ['\u0004', [expect.stringContaining('denied')]], // Ctrl-D
  ] as const)('a person who answers %j is understood', async ([reply, expected]) => {
    const message = file(`answer-${count}.json`, openaiMessage(['wants_yes', { what: 'jump' }]))
    const { code, screen, stdout } = await atTerminal(['run', hostile, message], [['[y/N]', `${reply}\n`]])
    expect(code).toBe(0)
    expect(screen).toContain('Really jump? {"what":"jump"} [y/N]')
    expect(openaiReply(stdout)).toEqual(expected)
  })

  test('a person sees all of the args before the question, over lines, and what spaces and invisible characters hide', async () => {
    const what = `ls\u3164\u200b${' '.repeat(900)}; rm -rf / ${'x'.repeat(20_000)} the end`
    const message = file('long.json', openaiMessage(['wants_yes', { what }]))
    const { screen, stdout } = await atTerminal(['run', hostile, message], [['[y/N]', 'y\n']], { NO_COLOR: '1' })
    const [question = ''] = screen.split('[y/N]')
    expect(question).toContain(`{\r\n  "what": "ls\\u3164\\u200b${'\\u0020'.repeat(900)}; rm -rf / xxx`)
    expect(question).toMatch(/x{20000} the end"\r\n\}\r\nwants_yes\? $/)
    expect(openaiReply(stdout)).toEqual([expect.stringMatching(/^did ls/)])
  })

  test('a call whose args cannot be shown whole is denied without a question, and the model learns why', async () => {
    const message = file('too-long.json', openaiMessage(['wants_yes', { what: 'x'.repeat(70_000) }]))
    const { screen, stdout } = await atTerminal(['run', hostile, message], [], { NO_COLOR: '1' })
    expect(screen).not.toContain('[y/N]')
    const words = /cannot be shown whole at the terminal/
    expect(screen).toMatch(words)
    expect(openaiReply(stdout)).toEqual([expect.stringMatching(words)])
  })

  test('a call of the executor of a module is denied too if its args cannot be shown whole', async () => {
    const message = file('too-long-for-executor.json', openaiMessage(['pay', { to: 'x'.repeat(100_000) }]))
    const { screen, stdout } = await atTerminal(['run', moduleOf('executor.ts'), message], [['[y/N]', 'y\n']])
    expect(screen).not.toContain('[y/N]')
    expect(openaiReply(stdout)).toEqual([expect.stringContaining('cannot be shown whole at the terminal')])
  })

  test('several calls are asked about one after the other, and each answer is for its own', async () => {
    const message = file(
      'several.json',
      openaiMessage(['wants_yes', { what: 'sing' }], ['wants_yes', { what: 'jump' }]),
    )
    const { stdout } = await atTerminal(
      ['run', hostile, message],
      [
        ['Really sing? {"what":"sing"} [y/N]', 'n\n'],
        ['Really jump? {"what":"jump"} [y/N]', 'y\n'],
      ],
    )
    expect(openaiReply(stdout)).toEqual([expect.stringContaining('denied'), 'did jump'])
  })

  test('a call of one tool is asked about as well', async () => {
    const { stdout } = await atTerminal(['call', hostile, 'wants_yes', '{"what":"jump"}'], [['[y/N]', 'y\n']])
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', content: [{ text: 'did jump' }] })
  })

  test('a call of a module that exports its executor is asked about as well', async () => {
    const { stdout } = await atTerminal(['call', moduleOf('executor.ts'), 'pay', '{}'], [['[y/N]', 'y\n']])
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', content: [{ text: 'paid' }] })
  })

  test('Ctrl-C at a prompt cancels the call, and lets the reply out', async () => {
    const message = file('ctrl-c.json', openaiMessage(['double', { value: 1 }], ['wants_yes', { what: 'jump' }]))
    const { code, stdout } = await atTerminal(['run', hostile, message], [['[y/N]', '\u0003']])
    expect(code).toBe(130)
    expect(openaiReply(stdout)).toEqual(['2', expect.stringContaining('The call was cancelled by its caller')])
  })

  test('a message that is typed is read to its end, and its calls are not asked about', async () => {
    const message = openaiMessage(['wants_yes', { what: 'jump' }])
    const { code, stdout } = await atTerminal(['run', hostile], [['Ctrl-D ends it', `${message}\n\u0004`]])
    expect(code).toBe(0)
    expect(openaiReply(stdout)).toEqual([expect.stringContaining('waits for approval')])
  })

  test('the answer on stdout is indented for a person', async () => {
    const child = start([
      'script',
      '-qec',
      `${program.map((word) => `'${word}'`).join(' ')} list '${moduleOf('collision.ts')}' || ${program.map((word) => `'${word}'`).join(' ')} list '${hostile}' --format mcp`,
      '/dev/null',
    ])
    const { stdout } = await ended(child)
    expect(stdout).toContain('\r\n    "name": "double",\r\n')
  })
})
