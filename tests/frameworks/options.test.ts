import { createExecutor } from 'toolwright'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { anthropicTools } from 'toolwright/frameworks/anthropic'
import { claudeAgentServer } from 'toolwright/frameworks/claude-agent'
import { fromLangchain, langchainTools } from 'toolwright/frameworks/langchain'
import { fromMastra, mastraTools } from 'toolwright/frameworks/mastra'
import { fromOpenaiAgents, openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
import { fromStrands, strandsTools } from 'toolwright/frameworks/strands'
import { fromTanstack, tanstackTools } from 'toolwright/frameworks/tanstack'
import { fromAiSdk } from 'toolwright/frameworks/ai-sdk'
import { describe, expect, test } from 'vitest'

const code = 'E_INVALID_CONFIGURATION'
const some = class {}
const sdk = {
  Tool: some,
  ToolStreamEvent: some,
  ToolResultBlock: some,
  TextBlock: some,
  JsonBlock: some,
  ImageBlock: some,
}
const executor = createExecutor()
const conversation = { executor, session: 'chat-1' }

/** Each function, and what it needs of its framework. */
const functions: readonly (readonly [name: string, make: (options: never) => unknown, own: object])[] = [
  ['aiSdkTools', aiSdkTools, {}],
  ['anthropicTools', anthropicTools, { ToolError: Error }],
  ['claudeAgentServer', claudeAgentServer, {}],
  ['langchainTools', langchainTools, { core: { DynamicStructuredTool: some, ToolMessage: some } }],
  ['mastraTools', mastraTools, { createTool: () => ({}) }],
  ['openaiAgentsTools', openaiAgentsTools, { tool: () => ({}) }],
  ['strandsTools', strandsTools, { sdk }],
  ['tanstackTools', tanstackTools, {}],
]

describe.each(functions)('%s', (name, make, own) => {
  const made = (options: unknown) => () => make(options as never)

  test('takes what every conversation has', () => {
    const all = { caller: 'model', principal: 'ann', values: {}, decidedBy: 'desk', report: () => {} }
    expect(made({ ...conversation, ...own })).not.toThrow()
    expect(made({ ...conversation, ...own, ...all, caller: { app: 'desk' }, invocationId: () => 'a' })).not.toThrow()
    expect(made({ ...conversation, ...own, values: () => ({}), principal: undefined })).not.toThrow()
  })

  test.each<[string, unknown]>([
    ['needs `session`: text that names the conversation', { executor, ...own }],
    [
      'takes text that names the conversation, in which approvals and handles hold as `session`, not ""',
      { ...own, executor, session: '' },
    ],
    ['needs `executor`: what `createExecutor` returned', { session: 'chat-1', ...own }],
    ['takes what `createExecutor` returned as `executor`, not null', { ...own, session: 'chat-1', executor: null }],
    ['takes an object of options, not undefined', undefined],
    ['has no option "sesion"; its options are executor, session, caller', { ...conversation, ...own, sesion: 'a' }],
    [
      'takes "model", "user" or { app: "its name" } as `caller`, not "robot"',
      { ...conversation, ...own, caller: 'robot' },
    ],
    ['takes a string as `principal`, not 5', { ...conversation, ...own, principal: 5 }],
    ['takes a function as `invocationId`, not "a"', { ...conversation, ...own, invocationId: 'a' }],
  ])('says what is wrong: it %s', (words, options) => {
    expect(made(options)).toThrow(expect.objectContaining({ code }))
    expect(made(options)).toThrow(`\`${name}\` ${words}`)
  })
})

test.each(functions.filter(([, , own]) => Object.keys(own).length > 0))(
  '%s says what it needs of its framework, and where that has it',
  (_name, make, own) => {
    const made = (options: unknown) => () => make(options as never)
    expect(made(conversation)).toThrow(expect.objectContaining({ code }))
    expect(made(conversation)).toThrow(/needs `(?:ToolError|core|createTool|tool|sdk)`: .*@.*\/.+\.$/)
    for (const [option] of Object.entries(own))
      expect(made({ ...conversation, [option]: {} })).toThrow(/takes .*@.*, not /)
  },
)

describe.each<[string, (tools: never, options: never) => unknown, object]>([
  ['fromLangchain', fromLangchain, {}],
  ['fromMastra', fromMastra, {}],
  ['fromOpenaiAgents', fromOpenaiAgents, { RunContext: some }],
  ['fromStrands', fromStrands, {}],
  ['fromTanstack', fromTanstack, {}],
])('%s', (name, from, own) => {
  const made = (tools: unknown, options: unknown) => () => from(tools as never, options as never)

  test('says that it takes an array of tools, and which options', () => {
    expect(made([], { ...own, tools: {} })).not.toThrow()
    for (const tools of [undefined, { name: 'a' }, 'a', [null]]) {
      expect(made(tools, own)).toThrow(expect.objectContaining({ code }))
      expect(made(tools, own)).toThrow(`\`${name}\` takes an array of `)
    }
    expect(made([], { ...own, tool: {} })).toThrow(`\`${name}\` has no option "tool"; its options are tools`)
    expect(made([], { ...own, tools: [] })).toThrow(`\`${name}\` takes options of tools by their names as \`tools\``)
  })

  test('refuses a tool whose schema is no schema, and names the tool', () => {
    const run = () => 'paid'
    for (const schema of [7, 'string']) {
      const schemas = { schema, inputSchema: schema, parameters: schema, toolSpec: { inputSchema: schema } }
      const theirs = {
        type: 'function',
        id: 'pay',
        name: 'pay',
        description: 'Pays',
        ...schemas,
        invoke: run,
        execute: run,
      }
      const refusal = { code: 'E_INVALID_INITIAL_TOOL_VALUE', message: expect.stringContaining('"pay"') }
      expect(made([theirs], own)).toThrow(expect.objectContaining(refusal))
    }
  })

  test('refuses options for a tool that is not there, and names those that are', () => {
    const theirs = [{ name: 'search' }, { id: 'pay' }]
    const words = `\`${name}\` has no tool "serach" for the options in \`tools\`: these are search, pay.`
    expect(made(theirs, { ...own, tools: { serach: {}, pay: {} } })).toThrow(expect.objectContaining({ code }))
    expect(made(theirs, { ...own, tools: { serach: {}, pay: {} } })).toThrow(words)
    expect(made([], { ...own, tools: { pay: {} } })).toThrow('it is given none')
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `t${index}` }))
    expect(made(many, { ...own, tools: { t30: {} } })).toThrow('t18, t19 and 10 more.')
  })
})

test('fromAiSdk says that it takes tools by their names, and which options', async () => {
  const made = (tools: unknown, options?: unknown): Promise<unknown> => fromAiSdk(tools as never, options as never)
  await expect(made({}, { tools: {} })).resolves.toEqual([])
  for (const tools of [undefined, [], 'a', { a: null }]) {
    await expect(made(tools)).rejects.toMatchObject({ code, message: /^`fromAiSdk` takes tools by their names/ })
  }
  await expect(made({ search: {} }, { tools: { serach: {} } })).rejects.toMatchObject({
    code,
    message: '`fromAiSdk` has no tool "serach" for the options in `tools`: these are search.',
  })
  await expect(made({}, { tool: {} })).rejects.toMatchObject({ code, message: /has no option "tool"/ })
})

test('fromOpenaiAgents says that it needs the class of the SDK', () => {
  expect(() => fromOpenaiAgents([], {} as never)).toThrow(
    /needs `RunContext`: the class `RunContext` of `@openai\/agents`\.$/,
  )
})
