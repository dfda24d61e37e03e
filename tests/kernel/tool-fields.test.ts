import { clientTool, Tool, tool, ToolExecutionType, ToolIntent, ToolRegistry } from 'toolwright'
import { InvalidInitialToolValueError, isToolError } from 'toolwright/errors'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const right = { name: 'read', description: 'Reads', handler: () => 1 }

function refusal(config: unknown): InvalidInitialToolValueError {
  try {
    tool(config as never)
  } catch (error) {
    if (isToolError(error) && error instanceof InvalidInitialToolValueError) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('a tool whose config is wrong is refused, and the field is named', () => {
  test.each<[string, unknown[]]>([
    ['name', ['', 'a b', 'a.b', 'ä', 'x'.repeat(65), 5, null]],
    ['description', ['', '  \n', 5, null]],
    ['title', [5, null]],
    ['type', ['', 5]],
    ['inputSchema', ['string', 5, null, [], () => {}, { x: z.string() }, { x: { type: 'string' } }, { x: 'string' }]],
    ['outputSchema', ['string', 5, null, [], { type: z.string() }]],
    ['jsonSchema', [true, [], 'x']],
    ['handler', ['x', {}, null]],
    ['artifact', ['text', {}]],
    ['intent', ['show', 5]],
    ['audience', ['admin', 5]],
    ['traits', [true, [], { readonly: 'yes' }, { readOnlyHint: true }, { toString: true }]],
    ['timeout', [-1, Number.NaN, '5', null]],
    ['requiresConfirmation', ['yes', 1, null]],
    ['confirmationMessage', [5, {}]],
    ['requiresResponse', ['yes', 1]],
    ['defaultResult', ['text', {}]],
    ['middleware', [() => {}, ['x'], {}]],
    ['hooks', [() => {}, [], { preToolUse: 'x' }, { preTooluse: () => {} }, { toString: () => 'x' }]],
    ['ephemeral', [1]],
    ['trusted', ['yes']],
    ['onCollision', ['ignore']],
    ['meta', ['x', []]],
    ['metadata', ['x', [], { cacheable: 'yes' }, { cacheTTL: -1 }, { cacheTTL: '5' }]],
    ['displaySummary', [5, {}]],
    ['confirmationPreview', ['text', {}]],
    ['aliases', ['cat', ['a b'], [5]]],
    ['providerOptions', ['x', []]],
    ['libraryOptions', ['x', []]],
    ['mcpConfig', ['x', []]],
    ['ui', ['x', []]],
    ['examples', ['x', {}]],
    ['secrets', ['/a', ['a'], [5]]],
    ['exposeErrors', ['no']],
  ])('%s', (field, values) => {
    for (const value of values) {
      const error = refusal({ ...right, [field]: value })
      expect(error.issues?.map(({ path }) => path)).toContainEqual([field])
      expect(error.message).toContain(`\`${field}\` must be`)
    }
  })

  test('all fields at once', () => {
    const error = refusal({ name: 'a b', description: '', handler: 1, timeout: -1, color: 'red' })
    expect(error.issues?.map(({ path }) => path[0])).toEqual(['name', 'description', 'handler', 'timeout', 'color'])
    expect(error.message).toMatch(/^Tool "a b" cannot be made: .*`name`.*`description`.*`handler`.*`timeout`.*`color`/)
  })

  test.each([['name'], ['description'], ['handler']])('%s is required', (field) => {
    const { [field]: _, ...rest } = right as Record<string, unknown>
    expect(refusal(rest).issues?.map(({ path }) => path[0])).toEqual([field])
  })

  test.each([undefined, 'server', 'mcp'])('a tool of type %s needs a handler', (type) => {
    expect(refusal({ name: 'a', description: 'b', type }).message).toContain('`handler` is required')
  })

  test.each(['client', 'provider', 'own'])('a tool of type %s needs none', (type) => {
    expect(tool({ name: 'a', description: 'b', type }).type).toBe(type)
  })

  test.each([
    ['parameters', 'inputSchema'],
    ['input_schema', 'inputSchema'],
    ['input', 'inputSchema'],
    ['output', 'outputSchema'],
    ['execute', 'handler'],
    ['callback', 'handler'],
    ['exec', 'handler'],
    ['artifactConstructor', 'artifact'],
  ])('%s of another kernel is called %s here', (theirs, ours) => {
    expect(refusal({ ...right, [theirs]: {} }).message).toContain(`\`${theirs}\` is called \`${ours}\` here`)
  })

  test('a field of no kernel, also one that every object inherits', () => {
    expect(refusal({ ...right, colour: 1 }).message).toContain('`colour` is not a field of a tool')
    expect(refusal({ ...right, toString: () => 'x' }).message).toContain('`toString` is not a field of a tool')
    const own = JSON.parse('{"name":"a","description":"b","type":"client","__proto__":1}') as object
    expect(refusal(own).message).toContain('`__proto__` is not a field of a tool')
  })

  test.each([[null], [undefined], [5], [[]], [() => {}], [Symbol('x')]])('%j is no config at all', (config) => {
    expect(refusal(config).message).toContain('`tool` takes { name, description, handler }')
  })

  test('a hostile name is cut in the message', () => {
    expect(refusal({ ...right, name: 'x'.repeat(1_000_000) }).message.length).toBeLessThan(300)
  })

  test('a schema of a library that speaks no Standard Schema is not taken for a JSON Schema that allows everything', () => {
    class OldSchema {
      readonly _def = {}
      parse(): never {
        throw new Error('no')
      }
    }
    expect(refusal({ ...right, inputSchema: new OldSchema() }).message).toContain('`inputSchema` must be')
    const future = { '~standard': { version: 2, vendor: 'future', validate: () => ({ value: 1 }) } }
    expect(refusal({ ...right, inputSchema: future }).message).toContain('`inputSchema` must be')
  })
})

describe('a tool in one line', () => {
  test('takes any object, and is described by its name', async () => {
    const one = tool('ping', (input: { a?: number }) => input)
    expect(one.describe()).toMatchObject({ name: 'ping', description: 'Execute ping', inputSchema: { type: 'object' } })
    expect(await one({ a: 1 })).toEqual({ a: 1 })
    await expect(one(5 as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })

  test('is refused where the name or the handler is wrong', () => {
    expect(() => tool('a b', () => 1)).toThrow(InvalidInitialToolValueError)
    expect(() => tool('ab', undefined as never)).toThrow(/`handler` is required/)
  })
})

describe('a definition', () => {
  test('has every option, with its default', () => {
    const defaults = {
      description: 'Reads',
      type: 'server',
      intent: 'compute',
      audience: 'model',
      requiresConfirmation: false,
      requiresResponse: false,
      ephemeral: false,
      trusted: false,
      onCollision: 'throw',
      traits: { readonly: false, destructive: false, idempotent: false, openWorld: false, concurrent: true },
      middleware: [],
      meta: {},
      metadata: {},
      aliases: [],
      providerOptions: {},
      libraryOptions: {},
      examples: [],
      secrets: [],
    }
    const made = tool(right)
    for (const [field, value] of Object.entries(defaults)) expect(made[field as keyof typeof made]).toEqual(value)
  })

  test('takes an option that is undefined for one that is not there', () => {
    const made = tool({ ...right, audience: undefined, traits: undefined, timeout: undefined } as never)
    expect((made as Tool).audience).toBe('model')
    expect((made as Tool).timeout).toBeUndefined()
  })

  test('does not change with the config that it came from', () => {
    const config = { ...right, description: 'before' }
    const made = tool(config)
    config.description = 'after'
    expect(made.description).toBe('before')
  })

  test('gives a client what it needs to know', () => {
    expect(clientTool({ name: 'show', description: 'Shows' }).describe()).toEqual({
      name: 'show',
      description: 'Shows',
      inputSchema: { type: 'object' },
      type: 'client',
      intent: 'render',
      audience: 'model',
      requiresResponse: false,
      timeout: 30_000,
      defaultResult: [{ type: 'text', text: '[show rendered on client]' }],
    })
  })

  test('is written as JSON without handler, hooks, meta and secrets', () => {
    const made = tool({
      ...right,
      meta: { key: 'canary' },
      secrets: ['/canary'],
      title: 'T',
      ui: { resourceUri: 'ui://x' },
    })
    expect(JSON.parse(JSON.stringify(made))).toEqual({
      name: 'read',
      title: 'T',
      description: 'Reads',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      type: 'server',
      intent: 'compute',
      audience: 'model',
      ui: { resourceUri: 'ui://x' },
    })
  })

  test('has names for its types and intents', () => {
    expect(Object.values(ToolExecutionType)).toEqual(['server', 'client', 'provider', 'mcp', 'output', 'bridge'])
    expect(Object.values(ToolIntent)).toEqual(['compute', 'action', 'render'])
  })

  test("is checked by the tool's own schema, to nest in others", () => {
    const { validate } = Tool.schema['~standard']
    expect(validate(right)).toEqual({ value: right })
    expect(validate({ ...right, name: 'a b' })).toMatchObject({ issues: [{ path: ['name'] }] })
  })
})

describe('what a tool was made of', () => {
  const config = () => ({
    ...right,
    aliases: ['fetch'],
    traits: { readonly: true },
    meta: { team: { name: 'billing' }, since: new Date(0) },
    metadata: { tags: ['a'] },
    examples: [{ city: 'Oslo' }],
    secrets: ['/key'],
    providerOptions: { openai: { strict: true } },
    hooks: {},
    middleware: [],
  })

  test('may be changed by its author, and the tool stays as it is', () => {
    const author = config()
    const made = tool(author)
    const before = JSON.stringify(new ToolRegistry([made]).get('read'))
    author.aliases.push('pay')
    author.traits.readonly = false
    author.meta.team.name = 'another'
    author.metadata.tags.push('b')
    author.examples[0]!.city = 'Rome'
    author.secrets.pop()
    author.providerOptions.openai.strict = false
    Object.assign(author.hooks, { preToolUse: () => ({ decision: 'deny' }) })
    expect(JSON.stringify(new ToolRegistry([made]).get('read'))).toBe(before)
    expect(made.hooks).toEqual({})
  })

  test('cannot be changed in the tool by its readers, and the author may still change his own', () => {
    const author = config()
    const { aliases, traits, meta, providerOptions } = tool(author)
    for (const part of [aliases, traits, meta, meta['team'], providerOptions['openai']])
      expect(Object.isFrozen(part)).toBe(true)
    expect(meta['since']).toBe(author.meta.since)
    for (const part of Object.values(author)) if (typeof part === 'object') expect(Object.isFrozen(part)).toBe(false)
  })
})
