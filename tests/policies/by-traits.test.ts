import { createExecutor, type ToolTraits } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { byTraits, type ByTraitsOptions } from 'toolwright/policies/by-traits'
import { describe, expect, test } from 'vitest'
import { policyConformance, work } from '../conformance/policies.ts'

policyConformance('byTraits', {
  allowing: () => byTraits({}),
  refusing: () => byTraits({ otherwise: 'deny' }),
  asking: () => byTraits({ otherwise: 'ask' }),
})

const said: Readonly<Record<string, string>> = { ok: 'allow', waiting: 'ask', denied: 'deny' }

async function decided(options: ByTraitsOptions, traits: ToolTraits, type = 'server'): Promise<string | undefined> {
  const executor = createExecutor({ tools: [work({ traits, type })], use: [byTraits(options)] })
  return said[(await executor.execute({ name: 'work' })).status]
}

const careful: ByTraitsOptions = { readonly: 'allow', destructive: 'deny', openWorld: 'ask', otherwise: 'ask' }

describe('byTraits', () => {
  test.each<[ToolTraits, string]>([
    [{}, 'ask'],
    [{ readonly: true }, 'allow'],
    [{ destructive: true }, 'deny'],
    [{ openWorld: true }, 'ask'],
    [{ readonly: true, openWorld: true }, 'ask'],
    [{ readonly: true, destructive: true }, 'deny'],
    [{ idempotent: true }, 'ask'],
  ])('of the traits %j the strictest wins', async (traits, decision) => {
    expect(await decided(careful, traits)).toBe(decision)
  })

  test('a trait that is not named says nothing', async () => {
    expect(await decided({ destructive: 'deny' }, { readonly: true, openWorld: true })).toBe('allow')
    expect(await decided({ readonly: 'allow', otherwise: 'deny' }, { openWorld: true })).toBe('deny')
  })

  test('a server that calls its tool readonly is not believed', async () => {
    expect(await decided({ readonly: 'allow', otherwise: 'ask' }, { readonly: true }, 'mcp')).toBe('ask')
    expect(await decided({ readonly: 'deny', otherwise: 'ask' }, { readonly: true }, 'mcp')).toBe('deny')
  })

  test('a server that does not call its tool destructive or open is not believed either', async () => {
    expect(await decided({ destructive: 'ask' }, { readonly: true, destructive: false }, 'mcp')).toBe('ask')
    expect(await decided({ openWorld: 'deny' }, {}, 'mcp')).toBe('deny')
    expect(await decided({ readonly: 'allow' }, {}, 'mcp')).toBe('allow')
  })

  test('nothing that a server says makes a decision milder', async () => {
    const flags = Array.from({ length: 8 }, (_, bits) => ({
      readonly: (bits & 1) > 0,
      destructive: (bits & 2) > 0,
      openWorld: (bits & 4) > 0,
    }))
    const order = ['allow', 'ask', 'deny']
    const silent = order.indexOf((await decided(careful, {}, 'mcp')) ?? '')
    for (const traits of flags) {
      const level = order.indexOf((await decided(careful, traits, 'mcp')) ?? '')
      expect(level).toBeGreaterThanOrEqual(silent)
    }
  })

  test('the application may believe a server, or not even its own tools', async () => {
    const options = { readonly: 'allow', destructive: 'deny', otherwise: 'ask' } as const
    expect(await decided({ ...options, believe: () => true }, { readonly: true }, 'mcp')).toBe('allow')
    expect(await decided({ ...options, believe: () => false }, { readonly: true })).toBe('deny')
  })

  test('a refusal names the policy, what it goes by, and how a tool of a server comes to be believed', async () => {
    const reasonOf = async (type: string, options: ByTraitsOptions): Promise<string | undefined> => {
      const executor = createExecutor({
        tools: [work({ traits: { destructive: true }, type })],
        use: [byTraits(options)],
      })
      return (await executor.execute({ name: 'work' })).error?.message
    }
    expect(await reasonOf('server', careful)).toBe("Denied by byTraits (`destructive: 'deny'`)")
    const ofServer = await reasonOf('mcp', { otherwise: 'deny' })
    expect(ofServer).toMatch(/^Denied by byTraits \(`otherwise: 'deny'`\): the traits of this tool are not believed\./)
    expect(ofServer).toMatch(/`mcpTools\(\{ tools \}\)`.*`believe`/)
    expect(await reasonOf('server', { ...careful, believe: () => false })).toMatch(/not believed\. Set `believe`/)
  })

  test.each([
    ['an unknown decision', { readonly: 'auto' }],
    ['an option that is misspelt', { readOnly: 'allow' }],
    ['something else as `believe`', { believe: true }],
    ['nothing', null],
  ])('refuses %s', (_, options) => {
    expect(() => byTraits(options as never)).toThrow(InvalidConfigurationError)
  })
})
