// AIDK, Agentick and Kode mount tools in a tree of components, and tell them what the loop of the agent does.
import { createElement, useState, type ReactNode } from 'react'
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'
import { componentTool, createToolRoot, Tool, useTool, type ToolLifecycle, type ToolRoot } from 'toolwright/react/root'
import { expect, it } from 'vitest'

/** Mounts one tool that hears of the loop. */
function mounted(
  lifecycle: ToolLifecycle & { readonly children?: ReactNode; readonly render?: () => ReactNode },
): ToolRoot {
  const root = createToolRoot()
  root.render(createElement(Tool, { name: 'weather', description: 'Weather', handler: () => 'clear', ...lifecycle }))
  return root
}

async function wordsOf(executor: ToolExecutor, name: string, args: unknown = {}): Promise<unknown> {
  return (await executor.execute({ name, args })).content
}

it('AIDK-30 a tool is registered before it hears that it is mounted', async () => {
  const heard: boolean[] = []
  const root = mounted({ onMount: (registry) => void heard.push(registry.has('weather')) })
  await root.start()
  expect(heard).toEqual([true])
  expect(await wordsOf(createExecutor({ tools: root.registry }), 'weather')).toEqual([{ type: 'text', text: 'clear' }])
})

it('AIDK-31 a tool is out of the registry before it hears that it is unmounted', () => {
  const heard: boolean[] = []
  mounted({ onUnmount: (registry) => void heard.push(registry.has('weather')) }).unmount()
  expect(heard).toEqual([false])
})

it('AIDK-32 a tool hears that the agent starts, and the agent waits for it', async () => {
  let isReady = false
  const root = mounted({
    async onStart() {
      await new Promise((resolve) => setTimeout(resolve))
      isReady = true
    },
  })
  await root.start()
  expect(isReady).toBe(true)
})

it('AIDK-33 a tool hears of each call of the model before it is made, and may change the tools of it', async () => {
  function Agent(): ReactNode {
    const [turn, setTurn] = useState(0)
    useTool({ name: 'ask', description: 'Asks', handler: () => turn, onTickStart: () => setTurn(turn + 1) })
    return turn > 1 ? createElement(Tool, { name: 'finish', description: 'Ends', handler: () => 'done' }) : null
  }
  const root = createToolRoot()
  root.render(createElement(Agent))
  const seen: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    await root.tickStart({ messages: [] })
    seen.push(root.registry.list().length)
  }
  expect(seen).toEqual([1, 2, 2])
})

it('AIDK-34 a tool hears of each answer of the model, with the messages', async () => {
  const heard: unknown[] = []
  const root = mounted({ onTickEnd: (_registry, { messages }) => void heard.push(messages.at(-1)) })
  await root.tickEnd({ messages: ['Hello', 'Good day'] })
  expect(heard).toEqual(['Good day'])
})

it('AIDK-35 a tool hears that the agent is done, and with what', async () => {
  const heard: unknown[] = []
  await mounted({ onComplete: (_registry, final) => void heard.push(final) }).complete('42')
  expect(heard).toEqual(['42'])
})

it('AIDK-36 a tool may say how to go on after an error', async () => {
  const root = mounted({
    onError: (_registry, { error }) => ({
      continue: true,
      recoveryMessage: `Try again: ${(error as Error).message}`,
      modifications: (registry) => void registry.remove('weather'),
    }),
  })
  const recovery = await root.error({ error: new Error('overloaded') })
  expect(recovery).toMatchObject({ continue: true, recoveryMessage: 'Try again: overloaded' })
  await recovery?.modifications?.(root.registry)
  expect(root.registry.list()).toEqual([])
  expect(await root.error({ error: new Error('again') })).toMatchObject({ continue: true })
})

it('AIDK-37 a tool renders what stands in its place: nothing, unless it says so', () => {
  expect(mounted({}).registry.list()).toHaveLength(1)
  const inner = createElement(Tool, { name: 'inner', description: 'Inner', handler: () => 1 })
  expect(
    mounted({ render: () => inner })
      .registry.list()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['inner', 'weather'])
})

it('AIDK-38 a tool hears what the tools were compiled to', async () => {
  const heard: unknown[] = []
  const root = mounted({
    onAfterCompile: (_registry, compiled, state, context) => void heard.push(compiled, state.messages, context),
  })
  const definitions = anthropic().definitions(createExecutor({ tools: root.registry }).tools())
  await root.afterCompile(definitions, { messages: [1] }, 'anthropic')
  expect(heard).toEqual([definitions, [1], 'anthropic'])
  expect(definitions).toMatchObject([{ name: 'weather' }])
})

it('AGK-29 a component is a tool: a sub-agent with tools of its own, which takes a prompt', async () => {
  const research = componentTool({
    name: 'research',
    description: 'Researches',
    component: ({ input }) =>
      createElement(Tool, { name: 'look_up', description: 'Looks up', handler: () => `about ${input.prompt}` }),
    run: ({ root }) =>
      createExecutor({ tools: root.registry })
        .execute({ name: 'look_up' })
        .then(({ content }) => content),
  })
  const executor = createExecutor({ tools: [research, tool('now', () => '12:00')] })
  expect(await wordsOf(executor, 'research', { prompt: 'tea' })).toEqual([{ type: 'text', text: 'about tea' }])
  expect((await executor.execute({ name: 'research', args: {} })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

it('KODE-44 a tool hears that the messages have changed', async () => {
  const heard: unknown[] = []
  const root = mounted({ onMessagesChanged: (_registry, messages) => void heard.push(messages) })
  await root.messagesChanged(['Hello'])
  expect(heard).toEqual([['Hello']])
})
