// What an executor shows to models, and what it can call.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { moduleOf, place, storyTools, toolwright } from './_command.ts'

const module = moduleOf('bridge.ts')
const namesOf = (json: string): string[] => (JSON.parse(json) as { name: string }[]).map(({ name }) => name)

describe.concurrent('an executor that does not show all of its tools', { timeout: 60_000 }, () => {
  test('has all of them in its list, and with --shown those that models see', async () => {
    const [all, shown] = await Promise.all([toolwright(['list', module]), toolwright(['list', module, '--shown'])])
    expect(namesOf(all.stdout)).toEqual(['read', 'write', 'tool_call'])
    expect(namesOf(shown.stdout)).toEqual(['tool_call'])
  })

  test('has all of them in the lock file', async () => {
    const path = place('bridge.lock.json')
    const { code } = await toolwright(['lock', module, '--file', path])
    const { tools } = JSON.parse(readFileSync(path, 'utf8')) as { tools: { name: string; type: string }[] }
    expect(code).toBe(0)
    expect(tools.map(({ name, type }) => [name, type])).toEqual([
      ['read', 'server'],
      ['tool_call', 'bridge'],
      ['write', 'server'],
    ])
  })

  test('is told of a policy that names the bridge', async () => {
    const { code, stdout, stderr } = await toolwright(['check', module])
    expect([code, stderr]).toEqual([
      0,
      'toolwright: The policy "permissions" names "tool_call", and decides about no call of it: that is a bridge, and a call through it is the call of another tool. Name that tool.\n',
    ])
    expect(stdout).toMatch(/^write /m)
  })

  test('has its policies about the tool behind the bridge', async () => {
    const calls = [
      { name: 'write', args: {} },
      { name: 'read', args: {} },
    ].map((args) => JSON.stringify(args))
    const ended = await Promise.all(calls.map((args) => toolwright(['call', module, 'tool_call', args])))
    expect(ended.map(({ stdout }) => JSON.parse(stdout) as object)).toMatchObject([
      { status: 'denied', toolName: 'write', via: 'tool_call' },
      { status: 'ok', toolName: 'read', via: 'tool_call' },
    ])
  })

  test('is needed for --shown', async () => {
    const { code, stderr } = await toolwright(['list', storyTools, '--shown'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--shown needs a module that exports an executor')])
  })
})
