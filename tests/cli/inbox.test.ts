import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createExecutor, type ExecutorOptions, type ToolExecutor, type ToolResult } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, test } from 'vitest'
import { file, moduleOf, openaiMessage, place, toolwright, type Ended } from './_command.ts'
import tools from './modules/inbox.ts'

const inbox = moduleOf('inbox.ts')
const timeout = 120_000
const containing = (text: string): string => expect.stringContaining(text) as string

// What a terminal obeys, or a reader is misled by.
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

let count = 0

/** Makes a journal with some calls, as a program does. Returns its path, and the ids. */
async function journalWith(
  calls: readonly (readonly [name: string, args?: object, session?: string])[],
  options: ExecutorOptions = {},
): Promise<{ readonly journal: string; readonly ids: readonly string[] }> {
  const journal = place(`calls-${count++}.db`)
  const executor: ToolExecutor = createExecutor({ tools, use: [sqliteJournal(journal)], ...options })
  const results: ToolResult[] = []
  for (const [name, args = {}, session = 's'] of calls) {
    results.push(await executor.execute({ id: 'call_1', name, args }, { session }))
  }
  await executor.close()
  return { journal, ids: results.map(({ invocationId }) => invocationId) }
}

function decide(journal: string, id: string | undefined, ...words: readonly string[]): Promise<Ended> {
  return toolwright(['decide', inbox, String(id), ...words, '--journal', journal])
}

describe.concurrent('toolwright calls', { timeout }, () => {
  test('lists calls newest first, one on a line, and the waiting ones alone with their questions', async () => {
    const { journal, ids } = await journalWith([['quick'], ['deploy', { app: 'shop', key: 'k-1' }], ['form']])
    const [all, waiting] = await Promise.all([
      toolwright(['calls', '--journal', journal]),
      toolwright(['calls', '--waiting', '--journal', journal]),
    ])
    const words = (stdout: string): string[][] =>
      stdout.split('\n').map((line) => line.split('  ').filter((_, index) => index !== 2))
    const args = '{"app":"shop","key":"[secret]"}'
    const prompt = 'Deploy shop?\\u001b]0;title\\u0007 \\u009b2J \\u202e next line'
    expect(words(all.stdout)).toEqual([
      [ids[2], 'EXECUTING', 'form', '{}', containing('form')],
      [ids[1], 'APPROVAL_REQUIRED', 'deploy', args, prompt],
      [ids[0], 'COMPLETED ok', 'quick', '{}'],
      [''],
    ])
    expect(words(waiting.stdout)).toEqual([
      [ids[2], 'waits for client', 'form', '{}', containing('form')],
      [ids[1], 'waits for approval', 'deploy', args, prompt],
      [''],
    ])
    for (const { code, stdout, stderr } of [all, waiting]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).not.toMatch(unsafe)
    }
  })

  test('prints all that is known with --json, of one session, as many as asked', async () => {
    const { journal, ids } = await journalWith([
      ['deploy', { app: 'a' }, 'ann'],
      ['deploy', { app: 'b' }, 'ben'],
      ['deploy', { app: 'c' }, 'ann'],
    ])
    const json = async (...words: readonly string[]): Promise<unknown> => {
      const { code, stdout } = await toolwright(['calls', '--json', '--journal', journal, ...words])
      expect(code).toBe(0)
      expect(stdout).not.toMatch(unsafe)
      return JSON.parse(stdout)
    }
    const [waiting, calls, one, none] = await Promise.all([
      json('--waiting', '--session', 'ann'),
      json('--session', 'ben'),
      json('--waiting', '--limit', '1'),
      json('--session', 'eve'),
    ])
    expect(waiting).toMatchObject([
      { invocationId: ids[2], toolName: 'deploy', session: 'ann', reason: 'approval', args: { app: 'c' } },
      { invocationId: ids[0], prompt: containing('Deploy a?\u001B]0;') },
    ])
    expect(calls).toMatchObject([{ id: ids[1], state: 'APPROVAL_REQUIRED', session: 'ben' }])
    expect([one, none]).toEqual([[expect.objectContaining({ invocationId: ids[2] })], []])
  })
})

describe.concurrent('toolwright decide', { timeout }, () => {
  test('runs a call that run left waiting, once, although three processes allow it at once', async () => {
    const journal = place('run.db')
    const message = openaiMessage(['deploy', { app: 'shop' }], ['quick'])
    const ran = await toolwright(['run', inbox, '--journal', journal], message)
    expect(ran).toMatchObject({ code: 0, stdout: containing('waits for approval'), stderr: '' })
    const [{ invocationId }] = JSON.parse(
      (await toolwright(['calls', '--waiting', '--json', '--journal', journal])).stdout,
    ) as [{ invocationId: string }]

    const answers = await Promise.all([1, 2, 3].map(() => decide(journal, invocationId, 'allow', '--by', 'ada')))
    expect(answers.map(({ code }) => String(code)).toSorted()).toEqual(['0', '2', '2'])
    for (const { code, stdout, stderr } of answers) {
      if (code === 0)
        expect(stdout).toBe(`${invocationId}  ok  deployed shop\\u001b]0;title\\u0007 \\u009b2J \\u202e next line\n`)
      else expect([stdout, stderr]).toEqual(['', containing('toolwright: E_APPROVAL_INVALID: ')])
    }
    const { stdout } = await toolwright(['calls', '--json', '--journal', journal])
    const [, deployed] = (JSON.parse(stdout) as { name: string }[]).toSorted((a, b) => (a.name < b.name ? 1 : -1))
    expect(deployed).toMatchObject({ state: 'COMPLETED', approval: { decision: 'allow', decidedBy: 'ada' } })
  })

  test('denies with a note to the model, and prints the whole result with --json', async () => {
    const { journal, ids } = await journalWith([['deploy', { app: 'shop' }]])
    const { code, stdout } = await decide(journal, ids[0], 'deny', '--note', 'not on a Friday', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'call_1',
      invocationId: ids[0],
      status: 'denied',
      effect: 'none',
      content: [{ type: 'text', text: containing('not on a Friday') }],
    })
  })

  test('exits 0 if the call settles with an error, or 1 with --fail-on-error', async () => {
    const { journal, ids } = await journalWith([['breaks'], ['breaks']])
    const [plain, strict] = [
      await decide(journal, ids[0], 'allow'),
      await decide(journal, ids[1], 'allow', '--fail-on-error'),
    ]
    expect([plain.code, strict.code]).toEqual([0, 1])
    expect(strict.stdout).toBe(`${ids[1]}  error  RangeError: out of disk\n`)
  })

  test('refuses what waits for no approval, and leaves a waiting call as it is', async () => {
    const { journal, ids } = await journalWith([['quick'], ['form'], ['deploy', { app: 'shop' }, 'ann']])
    const expired = await journalWith([['deploy', { app: 'shop' }]], { approvalTimeout: 1 })
    const bad: readonly (readonly [Promise<Ended>, string])[] = [
      [decide(journal, 'nowhere', 'allow'), 'The call nowhere is not in the journal'],
      [decide(journal, '\u001B[31m', 'allow'), 'The call "\\u001b[31m" is not in the journal'],
      [decide(journal, 'x'.repeat(100_000), 'allow'), 'The call xxxx'],
      [decide(journal, '', 'allow'), 'The call "" is not in the journal'],
      [decide(journal, ids[0], 'allow'), 'waits for no approval: it is COMPLETED'],
      [decide(journal, ids[1], 'allow'), 'waits for the answer of a client'],
      [decide(journal, ids[2], 'allow', '--session', 'ben'), 'or not of session "ben"'],
      [decide(expired.journal, expired.ids[0], 'allow'), 'has expired'],
      [decide(journal, ids[2], 'perhaps'), 'A decision is allow or deny, got "perhaps".'],
      [
        toolwright(['decide', moduleOf('many.ts'), ids[2]!, 'allow', '--journal', journal]),
        'There is no tool "deploy" here. Allow the call in a program that has it.',
      ],
      [toolwright(['decide', inbox, ids[2]!, 'allow']), '--journal is missing'],
      [toolwright(['decide', ids[2]!, 'allow', '--journal', journal]), 'Usage: toolwright decide <module>'],
    ]
    for (const [answer, words] of bad) {
      const { code, stdout, stderr } = await answer
      expect([code, stdout, stderr]).toEqual([2, '', containing(words)])
      expect(stderr).toMatch(/^toolwright: [^\n]*\n$/)
      expect(stderr).not.toMatch(unsafe)
    }
    expect(await decide(journal, ids[2], 'allow', '--session', 'ann')).toMatchObject({
      code: 0,
      stdout: containing('  ok  '),
    })
  })
})

describe.concurrent('toolwright prune', { timeout }, () => {
  test('deletes what settled before an age or a date, and nothing that waits', async () => {
    const { journal, ids } = await journalWith([['quick'], ['quick'], ['quick'], ['deploy', { app: 'shop' }]])
    const prune = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await toolwright(['prune', '--journal', journal, ...words])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    expect(await prune('--before', '1h')).toBe('0 records are deleted.\n')
    expect(await prune('--before', '2026-01-31')).toBe('0 records are deleted.\n')
    expect(await prune('--before', '0s', '--limit', '1')).toBe('1 record is deleted.\n')
    expect(await prune('--before', new Date().toISOString(), '--json')).toBe('{"pruned":2}\n')
    const { stdout } = await toolwright(['calls', '--json', '--journal', journal])
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual([ids[3]])
  })

  test.each([undefined, '', 'yesterday', '30', '-1d', '1.5h', '2026-02-30', '2026-13-01', '2999-01-01', 'NaN'])(
    'refuses the time %s',
    async (when) => {
      const journal = file(`never-${String(when)}.db`, '')
      const words = when === undefined ? [] : [`--before=${when}`]
      const { code, stdout, stderr } = await toolwright(['prune', '--journal', journal, ...words])
      expect([code, stdout, stderr]).toEqual([2, '', containing('toolwright: --before ')])
    },
  )
})

describe.concurrent('a journal', { timeout }, () => {
  const wrong: readonly (readonly [title: string, path: () => string, says: string])[] = [
    ['that is not there', () => place('nowhere.db'), 'There is no file'],
    ['without a name', () => '', '--journal takes the path of an SQLite file'],
    ['that is text', () => file('text.db', 'SQLite format? '.repeat(500)), 'E_JOURNAL: '],
    [
      'that is cut short',
      () => file('cut.db', Buffer.from(`SQLite format 3\0${'\u0001'.repeat(3_000)}`)),
      'E_JOURNAL: ',
    ],
    ['that is a directory', () => import.meta.dirname, 'E_JOURNAL: '],
    [
      'that is a database of another program',
      () => {
        const path = place('other.db')
        const database = new DatabaseSync(path)
        database.exec('CREATE TABLE calls (name TEXT)')
        database.exec('PRAGMA user_version = 1000')
        database.close()
        return path
      },
      'E_INVALID_CONFIGURATION: ',
    ],
  ]

  test.each(wrong)('%s is refused by each command, and none is made', async (_, path, says) => {
    const journal = path()
    const wasThere = existsSync(journal)
    const answers = await Promise.all([
      toolwright(['calls', '--journal', journal]),
      toolwright(['prune', '--before', '1d', '--journal', journal]),
      decide(journal, 'id', 'allow'),
    ])
    for (const { code, stdout, stderr } of answers) {
      expect([code, stdout, stderr]).toEqual([2, '', containing(says)])
      expect(stderr).toMatch(/^toolwright: [^\n]*\n$/)
    }
    expect(existsSync(journal)).toBe(wasThere)
  })
})
