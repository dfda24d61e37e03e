import { createExecutor, type Caller, type ToolResult } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { permissions, type Permission, type PermissionsOptions } from 'toolwright/policies/permissions'
import { describe, expect, test } from 'vitest'
import { policyConformance, work } from '../conformance/policies.ts'

policyConformance('permissions', {
  allowing: () => permissions({ mode: 'auto' }),
  refusing: () => permissions({ mode: 'deny' }),
  asking: () => permissions({ mode: 'ask' }),
})
policyConformance('permissions with a function', {
  allowing: () => permissions({ mode: 'custom', decide: () => 'auto' }),
  refusing: () => permissions({ mode: 'custom', decide: () => Promise.resolve('deny' as const) }),
  asking: () => permissions({ mode: 'custom', decide: () => Promise.resolve('ask' as const) }),
})

const saidOf: Readonly<Record<string, Permission>> = { ok: 'auto', waiting: 'ask', denied: 'deny' }

async function call(options: PermissionsOptions, name = 'work', caller: Caller = 'model'): Promise<ToolResult> {
  const executor = createExecutor({ tools: [work({ aliases: ['job'] })], use: [permissions(options)] })
  return executor.execute({ name }, { caller })
}

async function evaluated(options: PermissionsOptions, name?: string): Promise<Permission | undefined> {
  return saidOf[(await call(options, name)).status]
}

describe('permissions', () => {
  const lists = ['autoDenyTools', 'autoAllowTools', 'requireApprovalTools'] as const
  const words = ['deny', 'auto', 'ask'] as const
  const combinations = Array.from({ length: 8 }, (_, bits) => lists.filter((_list, index) => bits & (1 << index)))
  const modes = ['auto', 'ask', 'deny'] as const

  test.each(modes.flatMap((mode) => combinations.map((chosen) => [mode, chosen] as const)))(
    'in mode %s and named in %j: deny before allow before approval before mode',
    async (mode, chosen) => {
      const first = lists.findIndex((list) => chosen.includes(list))
      const options = { mode, ...Object.fromEntries(chosen.map((list) => [list, ['other', 'work']])) }
      expect(await evaluated(options)).toBe(words[first] ?? mode)
    },
  )

  test('a list that names other tools says nothing', async () => {
    const others = ['Work', 'work ', 'wor', '']
    for (const mode of modes) {
      const options = { mode, autoDenyTools: others, autoAllowTools: others, requireApprovalTools: others }
      expect(await evaluated(options)).toBe(mode)
    }
  })

  test('an alias does not slip past the name of its tool', async () => {
    expect(await evaluated({ mode: 'auto', autoDenyTools: ['work'] }, 'job')).toBe('deny')
    expect(await evaluated({ mode: 'auto', requireApprovalTools: ['work'] }, 'job')).toBe('ask')
    expect(await evaluated({ mode: 'deny', autoAllowTools: ['work'] }, 'job')).toBe('auto')
  })

  test('an alias in a list makes stricter and never milder', async () => {
    for (const name of ['work', 'job']) {
      expect(await evaluated({ mode: 'auto', autoDenyTools: ['job'] }, name)).toBe('deny')
      expect(await evaluated({ mode: 'auto', requireApprovalTools: ['job'] }, name)).toBe('ask')
      expect(await evaluated({ mode: 'deny', autoAllowTools: ['job'] }, name)).toBe('deny')
    }
  })

  test('a refusal says that a policy refused', async () => {
    const { error } = await call({ mode: 'deny' })
    expect(error?.message).toBe('Permission denied by policy')
  })

  test('the lists are those of the moment of construction', async () => {
    const autoDenyTools = ['work']
    const executor = createExecutor({ tools: [work()], use: [permissions({ mode: 'auto', autoDenyTools })] })
    autoDenyTools.length = 0
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'denied' })
  })

  test('a function decides about what stands in no list, by the own name of the tool', async () => {
    const asked: unknown[] = []
    const options: PermissionsOptions = {
      mode: 'custom',
      autoDenyTools: ['other'],
      decide: (toolName, { input }, { caller }) => {
        asked.push([toolName, input, caller])
        return caller === 'model' ? 'ask' : 'auto'
      },
    }
    expect(await call(options, 'job')).toMatchObject({ status: 'waiting' })
    expect(await call(options, 'job', 'user')).toMatchObject({ status: 'ok' })
    expect(asked).toEqual([
      ['work', {}, 'model'],
      ['work', {}, 'user'],
    ])
    expect(await evaluated({ ...options, autoDenyTools: ['work'] })).toBe('deny')
    expect(asked.length).toBe(2)
  })

  test.each([
    ['throws', () => Promise.reject(new Error('no'))],
    ['throws at once', () => JSON.parse('{')],
    ['says nothing', () => undefined],
    ['says something else', () => 'allow'],
    ['says something else later', () => Promise.resolve('yes')],
    ['says true', () => true],
  ])('a function that %s refuses the call', async (_, decide) => {
    expect(await evaluated({ mode: 'custom', decide: decide as never })).toBe('deny')
  })

  test.each([
    ['an unknown mode', { mode: 'readonly' }],
    ['no mode', {}],
    ['a mode that every object has', { mode: 'constructor' }],
    ['mode custom without a function', { mode: 'custom' }],
    ['a function that nobody asks', { mode: 'ask', decide: () => 'deny' }],
    ['a list that is one name', { mode: 'auto', autoDenyTools: 'bash_run' }],
    ['a list of something else', { mode: 'auto', autoAllowTools: [/.*/] }],
    ['an option that is misspelt', { mode: 'auto', autoDenyTool: ['bash_run'] }],
    ['nothing', undefined],
  ])('refuses %s', (_, options) => {
    expect(() => permissions(options as never)).toThrow(InvalidConfigurationError)
  })
})
