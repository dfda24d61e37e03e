import { createExecutor, tool, ToolRegistry, type Caller, type Tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { describe, expect, test } from 'vitest'
import { outcome, text, work } from './_calls.ts'
import { isVisible } from './_inside.ts'

function named(name: string, options: object = {}): Tool {
  return work(name, () => name, options)
}

function describing(registry: ToolRegistry): (string | undefined)[] {
  return registry.list().map(({ description }) => description)
}

describe('adding a tool', () => {
  test('makes it found by its name and its aliases, and its undo takes it out again', () => {
    const registry = new ToolRegistry()
    const undo = registry.add(named('read', { aliases: ['cat', 'show'] }))
    expect(registry.has('read')).toBe(true)
    expect(registry.get('cat')).toBeUndefined()
    expect([registry.resolve('read'), registry.resolve('cat')].map((found) => found?.name)).toEqual(['read', 'read'])
    undo()
    undo()
    expect([registry.resolve('read'), registry.resolve('cat'), registry.resolve('show')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    registry.add(named('cat'))
    expect(registry.resolve('cat')?.name).toBe('cat')
  })

  test('in the place of another is undone by putting the other back', () => {
    const registry = new ToolRegistry([named('read', { description: 'old', aliases: ['cat'] })])
    const undo = registry.add(named('read', { description: 'new', aliases: ['show'] }), { onCollision: 'replace' })
    expect(describing(registry)).toEqual(['new'])
    expect([registry.resolve('cat'), registry.resolve('show')?.description]).toEqual([undefined, 'new'])
    undo()
    expect(describing(registry)).toEqual(['old'])
    expect([registry.resolve('cat')?.description, registry.resolve('show')]).toEqual(['old', undefined])
  })

  test('is undone without harm after another has taken its place', () => {
    const registry = new ToolRegistry()
    const undo = registry.add(named('read', { description: 'first' }))
    registry.add(named('read', { description: 'second' }), { onCollision: 'replace' })
    undo()
    expect(describing(registry)).toEqual(['second'])
  })

  test('brings nothing back that was undone before', () => {
    const registry = new ToolRegistry([named('read', { description: 'first' })])
    const undoSecond = registry.add(named('read', { description: 'second' }), { onCollision: 'replace' })
    const undoThird = registry.add(named('read', { description: 'third' }), { onCollision: 'replace' })
    undoSecond()
    undoThird()
    expect(describing(registry)).not.toContain('second')
  })

  test('loses no tool where what it replaced does not fit any more', () => {
    const registry = new ToolRegistry([named('read', { aliases: ['cat'] })])
    const undo = registry.add(named('read'), { onCollision: 'replace' })
    registry.add(named('cat'))
    try {
      undo()
    } catch {
      // it may say so, but it has to leave a tool of the name
    }
    expect(registry.has('read')).toBe(true)
    expect(registry.resolve('cat')?.name).toBe('cat')
  })
})

describe('a name that is taken', () => {
  test('is refused, and the registry stays as it was', () => {
    const registry = new ToolRegistry([named('read', { description: 'first' })])
    expect(() => registry.add(named('read'))).toThrow(/"read" is taken/)
    expect(() => registry.add(named('read'), { onCollision: 'throw' })).toThrow(
      expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }),
    )
    expect(describing(registry)).toEqual(['first'])
  })

  test('is kept where the caller says so, and the undo of that undoes nothing', () => {
    const registry = new ToolRegistry([named('read', { description: 'first' })])
    registry.add(named('read', { description: 'second' }), { onCollision: 'keep' })()
    expect(describing(registry)).toEqual(['first'])
  })

  test.each([
    ['get_weather', 'get-weather'],
    ['get_weather', 'Get_Weather'],
    ['get_weather', 'GET-WEATHER'],
  ])('%s is too like %s', (first, second) => {
    const registry = new ToolRegistry([named(first)])
    for (const onCollision of ['throw', 'replace', 'keep'] as const) {
      expect(() => registry.add(named(second), { onCollision })).toThrow(
        expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }),
      )
    }
    expect(registry.list()).toHaveLength(1)
    expect(registry.resolve(second)).toBeUndefined()
  })

  test.each<[string, Tool, Tool]>([
    ['an alias like a name', named('read'), named('open', { aliases: ['read'] })],
    ['a name like an alias', named('open', { aliases: ['read'] }), named('read')],
    ['an alias like an alias', named('open', { aliases: ['cat'] }), named('show', { aliases: ['cat'] })],
    ['an alias that is nearly a name', named('read_file'), named('open', { aliases: ['READ-FILE'] })],
  ])('may be an alias too: %s', (_, first, second) => {
    const registry = new ToolRegistry([first])
    expect(() => registry.add(second)).toThrow(expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }))
    expect(registry.list().map(({ name }) => name)).toEqual([first.name])
  })

  test('leaves the former tool in place where the new one does not fit beside a third', () => {
    const registry = new ToolRegistry([named('read', { description: 'old', aliases: ['cat'] }), named('open')])
    const misfit = named('read', { description: 'new', aliases: ['OPEN'] })
    expect(() => registry.add(misfit, { onCollision: 'replace' })).toThrow()
    expect(registry.get('read')?.description).toBe('old')
    expect(registry.resolve('cat')?.description).toBe('old')
  })

  test('by `__proto__` or `constructor` is a name like any other', async () => {
    const executor = createExecutor({ tools: [named('constructor'), named('__proto__')] })
    expect(text(await executor.execute({ name: '__proto__' }))).toBe('__proto__')
    expect(text(await executor.execute({ name: 'constructor' }))).toBe('constructor')
    expect((await executor.execute({ name: 'toString' })).error?.code).toBe('E_TOOL_NOT_FOUND')
    expect((await createExecutor().execute({ name: 'constructor' })).error?.code).toBe('E_TOOL_NOT_FOUND')
  })
})

describe('removing a tool', () => {
  test('says whether there was one, and frees its names', () => {
    const registry = new ToolRegistry([named('read', { aliases: ['cat'] })])
    expect([registry.remove('cat'), registry.remove('read'), registry.remove('read')]).toEqual([false, true, false])
    registry.add(named('cat'))
    expect(registry.list().map(({ name }) => name)).toEqual(['cat'])
  })
})

describe('a registry with a parent', () => {
  const parent = new ToolRegistry([
    named('read', { description: 'of the parent', aliases: ['cat'] }),
    named('write', { description: 'of the parent' }),
  ])
  const child = new ToolRegistry([named('read', { description: 'of the child' })], { parent })

  test('asks it for what it has not', () => {
    expect(child.get('read')?.description).toBe('of the child')
    expect(child.resolve('write')?.description).toBe('of the parent')
    expect(child.has('write')).toBe(true)
    expect(child.list().map(({ name, description }) => `${name} ${description}`)).toEqual([
      'read of the child',
      'write of the parent',
    ])
    expect(parent.get('read')?.description).toBe('of the parent')
  })

  test("an alias never shadows a name, not even the parent's", async () => {
    const hijack = named('harmless', { aliases: ['write'] })
    const below = new ToolRegistry([hijack], { parent })
    expect(below.resolve('write')?.name).toBe('write')
    const executor = createExecutor({ tools: [named('write')], use: [{ tools: () => [hijack] }] })
    expect(text(await executor.execute({ name: 'write' }))).toBe('write')
  })

  test("the parent's aliases hold, unless the child has a tool of the name", () => {
    expect(new ToolRegistry([], { parent }).resolve('cat')?.name).toBe('read')
    expect(new ToolRegistry([named('cat')], { parent }).resolve('cat')?.name).toBe('cat')
  })
})

describe('merging', () => {
  const mine = new ToolRegistry([named('read', { description: 'mine' })])

  test('asks the tool that comes in what to do', () => {
    const merge = (onCollision: string): (string | undefined)[] =>
      describing(mine.merge([new ToolRegistry([named('read', { description: 'theirs', onCollision })])]))
    expect(merge('replace')).toEqual(['theirs'])
    expect(merge('keep')).toEqual(['mine'])
    expect(() => merge('throw')).toThrow(expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }))
    expect(describing(mine)).toEqual(['mine'])
  })

  test('asks the option where the tool does not say', () => {
    const theirs = new ToolRegistry([named('read', { description: 'theirs' })])
    expect(describing(mine.merge([theirs], { onCollision: 'replace' }))).toEqual(['theirs'])
    expect(describing(mine.merge([theirs], { onCollision: 'keep' }))).toEqual(['mine'])
    const keeping = new ToolRegistry([named('read', { description: 'theirs', onCollision: 'keep' })])
    expect(describing(mine.merge([keeping], { onCollision: 'replace' }))).toEqual(['mine'])
  })

  test('goes from left to right, and changes none of them', () => {
    const one = new ToolRegistry([named('one')])
    const two = new ToolRegistry([named('two')])
    expect(
      mine
        .merge([one, two])
        .list()
        .map(({ name }) => name),
    ).toEqual(['read', 'one', 'two'])
    expect([mine, one, two].map((registry) => registry.list().length)).toEqual([1, 1, 1])
  })
})

describe('who may see and call a tool', () => {
  const view = { ui: { resourceUri: 'ui://x' } }
  const tools: Record<string, Tool> = {
    forModel: named('forModel'),
    forUser: named('forUser', { audience: 'user' }),
    forAll: named('forAll', { audience: 'all' }),
    ofServer: named('ofServer', { mcpConfig: { serverName: 'maps' }, ...view }),
    ofApp: named('ofApp', { mcpConfig: { serverName: 'maps' }, ui: { visibility: ['app'] } }),
    ofModel: named('ofModel', { mcpConfig: { serverName: 'maps' }, ui: { visibility: ['model'] } }),
    ofOther: named('ofOther', { mcpConfig: { serverName: 'mail' } }),
  }
  const visible: readonly (readonly [string, Caller, string])[] = [
    ['the model', 'model', 'forModel forAll ofServer ofModel ofOther'],
    ['a person', 'user', 'forModel forUser forAll ofServer ofApp ofModel ofOther'],
    ['an app of maps', { app: 'maps' }, 'ofServer ofApp'],
    ['an app of mail', { app: 'mail' }, 'ofOther'],
    ['an app of nobody', { app: 'nobody' }, ''],
    ['an app without a name', { app: '' }, ''],
  ]

  test.each(visible)('%s', async (_, caller, expected) => {
    const executor = createExecutor({ tools: Object.values(tools) })
    expect(
      executor
        .tools(caller)
        .map(({ name }) => name)
        .join(' '),
    ).toBe(expected)
    for (const name of Object.keys(tools)) {
      const result = await executor.execute({ name }, { caller })
      expect(outcome(result)).toBe(expected.split(' ').includes(name) ? 'ok completed' : 'error none E_TOOL_NOT_FOUND')
    }
  })

  test.each<[string, unknown]>([
    ['a word that is no caller', 'assistant'],
    ['an app whose name is missing', {}],
    ['an app whose name is undefined', { app: undefined }],
    ['nobody', null],
  ])('%s sees nothing', (_, caller) => {
    for (const one of Object.values(tools)) {
      let seen = false
      try {
        seen = isVisible(one as never, caller as Caller)
      } catch {
        // to refuse is fine too
      }
      expect(seen).toBe(false)
    }
  })
})

describe('a tool that a model cannot be shown', () => {
  const dumb = { '~standard': { version: 1, vendor: 'dumb', validate: (value: unknown) => ({ value }) } } as const

  test('is refused, and the message says what to do', () => {
    const registry = new ToolRegistry()
    const add = (options: object): unknown =>
      registry.add(tool({ name: 'dumb', description: 'd', inputSchema: dumb, handler: () => 1, ...options } as never))
    expect(() => add({})).toThrow(/dumb.*`jsonSchema` of its own/)
    expect(() => add({})).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
    expect(registry.has('dumb')).toBe(false)
    expect(() => add({ audience: 'all' })).toThrow()
    add({ audience: 'user' })
    registry.remove('dumb')
    add({ jsonSchema: { type: 'object' } })
    expect(registry.get('dumb')?.describe().inputSchema).toEqual({ type: 'object' })
  })
})

describe('a tool whose raw JSON Schema takes no object', () => {
  test.each<[string, unknown, unknown]>([
    ['as its input schema', { type: 'string' }, undefined],
    ['as an input schema of several types', { type: ['array', 'null'] }, undefined],
    ['as an input schema that nothing fits', false, undefined],
    ['beside its validator', undefined, { type: 'array' }],
  ])('is refused when it enters an executor, and not at the first list: %s', (_, inputSchema, jsonSchema) => {
    const odd = { name: 'odd', description: 'd', inputSchema, jsonSchema, handler: () => 1 }
    const made = tool(odd as never)
    expect(() => createExecutor({ tools: [made as Tool] })).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('Tool "odd"') }),
    )
    const forPeople = tool({ ...odd, audience: 'user' } as never)
    expect(() => createExecutor({ tools: [forPeople as Tool] })).not.toThrow()
  })

  test.each([[{ type: ['object', 'null'] }], [{ anyOf: [{ type: 'object' }] }], [true]])(
    '%j is no such schema',
    (inputSchema) => {
      const made = tool({ name: 'fine', description: 'd', inputSchema, handler: () => 1 } as never)
      expect(createExecutor({ tools: [made as Tool] }).tools()).toHaveLength(1)
    },
  )
})

test.each([['text'], [5], [{}]])('an executor whose tools are %j is refused', (tools) => {
  expect(() => createExecutor({ tools: tools as never })).toThrow(InvalidConfigurationError)
})

describe('what is not a tool', () => {
  const kinds: [unknown, string][] = [
    [{ name: 'read', description: 'Reads', handler: () => 'read' }, 'object'],
    ['read', 'string'],
    [undefined, 'undefined'],
    [null, 'null'],
    [() => 'read', 'function'],
    [[named('read')], 'array'],
  ]

  test.each(kinds)('is refused among the tools of an executor, by its place: %j', (entry, what) => {
    const tools = [named('write'), entry] as never
    expect(() => createExecutor({ tools })).toThrow(InvalidConfigurationError)
    const message = `\`tools[1]\` is not a tool but ${what}. Pass the result of \`tool()\`, as in \`tools: [tool({ name, description, handler })]\`.`
    expect(() => createExecutor({ tools })).toThrow(message)
    expect(() => new ToolRegistry(tools)).toThrow(message)
  })

  test('is not added to a registry', () => {
    const registry = new ToolRegistry()
    expect(() => registry.add({ name: 'read' } as never)).toThrow(InvalidConfigurationError)
    expect(() => registry.add({ name: 'read' } as never)).toThrow(/^The argument of `add` is not a tool but object\./)
    expect(registry.list()).toEqual([])
  })

  test('is reported where an extension gives it, and its other tools stand', () => {
    const reported: unknown[] = []
    const giving = { tools: () => [{ name: 'read' } as never, named('write')] }
    const executor = createExecutor({ use: [giving], report: (error) => void reported.push(error) })
    expect(executor.tools().map(({ name }) => name)).toEqual(['write'])
    expect(reported).toEqual([expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' })])
  })
})

describe('a hidden tool', () => {
  const shown = (registry: ToolRegistry): string[] => registry.list('model').map(({ name }) => name)

  test('is left out of what callers are shown, and may still be called', async () => {
    const registry = new ToolRegistry([named('read'), named('write')])
    const executor = createExecutor({ tools: registry })
    expect(registry.hide('write')).toBe(true)
    expect([registry.isHidden('write'), registry.isHidden('read')]).toEqual([true, false])
    expect(executor.tools().map(({ name }) => name)).toEqual(['read'])
    expect(executor.tools('user').map(({ name }) => name)).toEqual(['read'])
    expect(registry.list().map(({ name }) => name)).toEqual(['read', 'write'])
    expect(text(await executor.execute({ name: 'write' }))).toBe('write')
    expect((await executor.execute({ name: 'wrote' })).error?.message).not.toMatch(/\bwrite\b/)
    expect(registry.unhide('write')).toBe(true)
    expect(shown(registry)).toEqual(['read', 'write'])
  })

  test('that is none is said to be none', () => {
    const registry = new ToolRegistry()
    expect([registry.hide('read'), registry.unhide('read'), registry.isHidden('read')]).toEqual([false, false, false])
    registry.add(named('read'))
    expect(shown(registry)).toEqual(['read'])
  })

  test('is heard of by listeners, here and in a child, if it changes anything', () => {
    const registry = new ToolRegistry([named('read')])
    const child = new ToolRegistry([], { parent: registry })
    let changes = 0
    child.onChange(() => changes++)
    registry.hide('read')
    registry.hide('read')
    expect(changes).toBe(1)
    registry.unhide('read')
    expect(changes).toBe(2)
    child.hide('read')
    expect(changes).toBe(3)
  })

  test('of a parent is hidden in a child, unless the child has a tool of this name or shows it', () => {
    const registry = new ToolRegistry([named('read'), named('write')])
    registry.hide('read')
    registry.hide('write')
    const child = new ToolRegistry([named('write')], { parent: registry })
    expect(shown(child)).toEqual(['write'])
    child.unhide('read')
    expect(shown(child).toSorted()).toEqual(['read', 'write'])
    expect(shown(registry)).toEqual([])
  })

  test('stays hidden where another takes its place, and not where it was taken out', () => {
    const registry = new ToolRegistry([named('read')])
    registry.hide('read')
    const undo = registry.add(named('read'), { onCollision: 'replace' })
    expect(shown(registry)).toEqual([])
    undo()
    expect(shown(registry)).toEqual([])
    registry.remove('read')
    const added = registry.add(named('read'))
    expect(shown(registry)).toEqual(['read'])
    registry.hide('read')
    added()
    registry.add(named('read'))
    expect(shown(registry)).toEqual(['read'])
  })

  test('stays hidden in a merge, where it is the one that stays', () => {
    const hidden = (): ToolRegistry => {
      const registry = new ToolRegistry([named('read')])
      registry.hide('read')
      return registry
    }
    const plain = new ToolRegistry([named('read')])
    expect(shown(hidden().merge([new ToolRegistry([named('write')])]))).toEqual(['write'])
    expect(shown(new ToolRegistry([named('write')]).merge([hidden()]))).toEqual(['write'])
    expect(shown(plain.merge([hidden()], { onCollision: 'keep' }))).toEqual(['read'])
    expect(shown(plain.merge([hidden()], { onCollision: 'replace' }))).toEqual([])
    expect(shown(hidden().merge([plain], { onCollision: 'replace' }))).toEqual(['read'])
  })
})

describe('ephemeral tools', () => {
  const ephemeral = (name: string, options: object = {}): Tool => named(name, { ephemeral: true, ...options })

  test('are taken out of their own registry when it is asked to, and the others stay', () => {
    const parent = new ToolRegistry([ephemeral('of_parent')])
    const registry = new ToolRegistry([ephemeral('once'), named('ever'), ephemeral('too', { aliases: ['also'] })], {
      parent,
    })
    let changes = 0
    registry.onChange(() => changes++)
    expect(registry.pruneEphemeral()).toEqual(['once', 'too'])
    expect(registry.list().map(({ name }) => name)).toEqual(['of_parent', 'ever'])
    expect(registry.resolve('also')).toBeUndefined()
    expect(changes).toBe(2)
    expect(registry.pruneEphemeral()).toEqual([])
  })

  test('go after a turn that says so, unless a call of it waits', async () => {
    const registry = new ToolRegistry()
    const executor = createExecutor({ tools: registry })
    const names = (): string[] => executor.tools().map(({ name }) => name)
    registry.add(ephemeral('once'))
    registry.add(named('ask', { requiresConfirmation: true }))
    await executor.executeToolCalls([{ name: 'once' }])
    const [, waiting] = await executor.executeToolCalls([{ name: 'once' }, { name: 'ask' }], { pruneEphemeral: true })
    expect(waiting?.status).toBe('waiting')
    expect(names()).toEqual(['once', 'ask'])
    await executor.execute({ name: 'once' })
    expect(names()).toEqual(['once', 'ask'])
    const results = await executor.executeToolCalls([{ name: 'once' }, { name: 'none' }], { pruneEphemeral: true })
    expect(results.map(({ status }) => status)).toEqual(['ok', 'error'])
    expect(names()).toEqual(['ask'])
  })

  test('that an extension gives for a session stay', async () => {
    const tools = [ephemeral('asks')]
    const executor = createExecutor({ tools: [ephemeral('once')], use: [{ tools: () => tools }] })
    await executor.executeToolCalls([{ name: 'asks' }, { name: 'once' }], { pruneEphemeral: true })
    expect(executor.tools().map(({ name }) => name)).toEqual(['asks'])
  })

  test('go although a listener breaks, which is reported, and the results stand', async () => {
    const registry = new ToolRegistry([ephemeral('once')])
    const reports: unknown[] = []
    const executor = createExecutor({ tools: registry, report: (error) => reports.push(error) })
    const fault = new Error('no')
    registry.onChange(() => {
      throw fault
    })
    const [result] = await executor.executeToolCalls([{ name: 'once' }], { pruneEphemeral: true })
    expect(result?.status).toBe('ok')
    expect(reports).toEqual([fault])
  })
})
