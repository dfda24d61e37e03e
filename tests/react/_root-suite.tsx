import {
  act,
  Activity,
  Component,
  lazy,
  StrictMode,
  Suspense,
  use,
  useEffect,
  useState,
  useTransition,
  ViewTransition,
  type ReactNode,
} from 'react'
import { createExecutor, json, JsonArtifact, tool, type ToolContext, type ToolExecutor } from 'toolwright'
import {
  component,
  componentTool,
  createToolRoot,
  Tool,
  useTickState,
  useTool,
  type ToolLifecycle,
  type ToolRoot,
} from 'toolwright/react/root'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

/** Waits until something holds: what React does later has no promise of its own. */
async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10_000, interval: 5 })
}

async function answerOf(executor: ToolExecutor, name: string, args: unknown = {}): Promise<unknown> {
  const { error, content } = await executor.execute({ name, args })
  if (error !== undefined) return error.code
  const [block] = content
  return block?.type === 'text' ? block.text : block?.type === 'json' ? block.data : block
}

function namesOf({ registry }: ToolRoot): string[] {
  return registry.list().map(({ name }) => name)
}

function thrownBy(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

const quiet = { report: () => {} }

/** A gate that a test opens. */
function gate<Value>(): { promise: Promise<Value>; open: (value: Value) => void } {
  const { promise, resolve } = Promise.withResolvers<Value>()
  return { promise, open: resolve }
}

/** A tool that answers with its name. */
function named(name: string, more: object = {}): ReactNode {
  return <Tool key={name} name={name} description={name} handler={() => name} {...more} />
}

/** What is the same in both builds of React. */
export function describeRoot(mode: 'development' | 'production'): void {
  describe(`a tool root, with React for ${mode}`, () => {
    let warnings: string[] = []

    beforeEach(() => {
      warnings = []
      vi.spyOn(console, 'error').mockImplementation((...words: unknown[]) => void warnings.push(words.join(' ')))
    })

    afterEach(() => {
      vi.restoreAllMocks()
      expect(warnings).toEqual([])
    })

    it('runs with the build that it names', () => {
      expect(typeof act).toBe(mode === 'production' ? 'undefined' : 'function')
    })

    describe('a mounted tool', () => {
      let setCount: (count: number) => void

      function Counter({ by = 1, onRender = () => {} }: { by?: number; onRender?: () => void }): ReactNode {
        const [count, set] = useState(0)
        setCount = set
        onRender()
        useTool({ name: 'count', description: 'Counts', handler: () => count * by })
        return null
      }

      it('is in the registry before `render` returns, and gone after `unmount`', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(<Counter />)
        expect(executor.tools().map(({ name }) => name)).toEqual(['count'])
        expect(await answerOf(executor, 'count')).toBe('0')
        root.unmount()
        root.unmount()
        expect(executor.tools()).toEqual([])
        expect(await answerOf(executor, 'count')).toBe('E_TOOL_NOT_FOUND')
        root.render(<Counter by={2} />)
        expect(namesOf(root)).toEqual(['count'])
      })

      it('runs the handler of the newest render, with the state and the props of now, and is registered once', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        const changed = vi.fn()
        root.render(<Counter />)
        executor.on('tools:changed', changed)
        setCount(7)
        root.flush()
        expect(await answerOf(executor, 'count')).toBe('7')
        root.render(<Counter by={3} />)
        expect(await answerOf(executor, 'count')).toBe('21')
        setCount(8) // without a flush, it is there in the next microtask
        await Promise.resolve()
        expect(await answerOf(executor, 'count')).toBe('24')
        for (let round = 0; round < 100; round++) root.render(<Counter by={round} />)
        expect(changed).not.toHaveBeenCalled()
      })

      it('commits state that a handler sets before the next call of the same turn that comes after it', async () => {
        function Log(): ReactNode {
          const [lines, setLines] = useState<readonly string[]>([])
          useTool({
            name: 'log',
            description: 'Adds a line',
            inputSchema: z.object({ line: z.string() }),
            handler: ({ line }) => (setLines((all) => [...all, line]), lines.length),
          })
          return lines.length > 1 ? <Tool name="erase" description="Erases" handler={() => setLines([])} /> : null
        }
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(<Log />)
        const calls = ['a', 'b', 'c'].map((line) => ({ name: 'log', args: { line } }))
        const results = await executor.executeToolCalls(calls, {})
        expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
        expect(namesOf(root)).toEqual(['log', 'erase'])
        expect(await answerOf(executor, 'log', { line: 'd' })).toBe('3')
        await answerOf(executor, 'erase')
        root.flush()
        expect(namesOf(root)).toEqual(['log'])
      })

      it('is another tool if its description, a schema, its type or its confirmation changes, by what is told and not by identity', () => {
        const root = createToolRoot()
        const changed = vi.fn()
        const render = (config: object): unknown => {
          const props = { name: 'cut', description: 'Cuts', handler: () => 1, ...config }
          root.render(<Tool {...props} />)
          const calls = changed.mock.calls.length
          changed.mockClear()
          return calls
        }
        const schema = (most: number): object => ({
          inputSchema: { type: 'object', properties: { by: { maximum: most } } },
        })
        render(schema(1))
        root.registry.onChange(changed)
        for (let round = 0; round < 10; round++) expect(render(schema(1))).toBe(0)
        expect(render(schema(2))).toBe(2) // out and in
        expect(render({ description: 'Cuts deep' })).toBe(2)
        expect(render({ inputSchema: z.object({ by: z.number() }) })).toBe(2)
        expect(render({ inputSchema: z.object({ by: z.number() }) })).toBe(0)
        expect(render({ inputSchema: z.object({ by: z.number() }), outputSchema: z.number() })).toBe(2)
        expect(render({ requiresConfirmation: true })).toBe(2)
        expect(render({ requiresConfirmation: () => true })).toBe(2)
        expect(render({ requiresConfirmation: () => false })).toBe(0)
        expect(render({ traits: { readonly: true } })).toBe(2)
        expect(render({ traits: { readonly: true } })).toBe(0)
        expect(render({ timeout: Infinity })).toBe(2)
        expect(render({ timeout: 5_000 })).toBe(2)
        expect(render({ meta: { owner: { name: 'ada' } } })).toBe(2)
        expect(render({ meta: { owner: { name: 'ada' } } })).toBe(0)
        const cyclic: Record<string, unknown> = {}
        cyclic['itself'] = cyclic
        expect(render({ meta: cyclic })).toBe(2)
        expect(render({ meta: cyclic })).toBe(0)
        expect(render({ artifact: JsonArtifact })).toBe(2)
        expect(render({ artifact: () => JsonArtifact })).toBe(0)
        expect(render({ hooks: { preToolUse: () => {} } })).toBe(2)
        expect(render({ hooks: { preToolUse: () => {} } })).toBe(0)
        expect(render({ type: 'client', handler: undefined })).toBe(2)
        expect(render({ title: undefined, type: 'client', handler: undefined })).toBe(0)
      })

      it('asks a look-up of the newest schema of Zod once, and goes on after it rejects', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        let asked = 0
        const render = (answers: () => Promise<boolean>): void => {
          const lookUp = (): Promise<boolean> => (asked++, answers())
          const inputSchema = z.object({ id: z.string().refine(lookUp) })
          root.render(<Tool name="find" description="Finds" inputSchema={inputSchema} handler={() => 'found'} />)
        }
        render(async () => false)
        render(async () => true)
        expect(await answerOf(executor, 'find', { id: 'a' })).toBe('found')
        expect(asked).toBe(1)
        render(() => Promise.reject(new Error('the database is down')))
        const { error } = await executor.execute({ name: 'find', args: { id: 'a' } })
        expect(error?.code).toBe('E_VALIDATOR_FAILED')
        expect(asked).toBe(2)
      })

      it('validates, asks and hooks with the functions of the newest render too', async () => {
        let setMost!: (most: number) => void
        function Pay(): ReactNode {
          const [most, set] = useState(10)
          setMost = set
          useTool({
            name: 'pay',
            description: 'Pays',
            inputSchema: z.object({ sum: z.number().refine((sum) => sum <= most) }),
            outputSchema: z.string().refine((text) => text.length <= most),
            requiresConfirmation: ({ sum }) => sum > most / 2,
            confirmationMessage: ({ sum }) => `Pay ${sum} of ${most}?`,
            middleware: [async (_call, _context, next) => `${most} ${String(await next())}`],
            hooks: {
              preToolUse: ({ input }) => (input.sum === most - 10 ? { decision: 'deny' } : undefined),
            },
            handler: ({ sum }) => `paid ${sum}`,
          })
          return null
        }
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(<Pay />)
        expect(await answerOf(executor, 'pay', { sum: 11 })).toBe('E_INVALID_TOOL_ARGS')
        expect(await answerOf(executor, 'pay', { sum: 5 })).toBe('10 paid 5')
        const changed = vi.fn()
        root.registry.onChange(changed)
        setMost(100)
        root.flush()
        expect(await answerOf(executor, 'pay', { sum: 11 })).toBe('100 paid 11')
        expect(await answerOf(executor, 'pay', { sum: 90 })).toBe('E_TOOL_DENIED')
        await executor.execute({ name: 'pay', args: { sum: 70 } })
        expect(await executor.calls.waiting()).toMatchObject([{ prompt: 'Pay 70 of 100?' }])
        setMost(5)
        root.flush()
        expect(await answerOf(executor, 'pay', { sum: 1 })).toBe('E_INVALID_TOOL_RESULT')
        expect(changed).not.toHaveBeenCalled()
      })

      it('refuses a config that is wrong, and a hook outside of a root, with words', () => {
        const root = createToolRoot(quiet)
        const Wrong = (): ReactNode => {
          useTool({ name: 'a b', description: 'x', handler: () => 1 })
          return null
        }
        expect(thrownBy(() => root.render(<Wrong />))).toMatchObject({ code: 'E_INVALID_INITIAL_TOOL_VALUE' })
        expect(thrownBy(() => root.render(<div />))).toMatchObject({
          code: 'E_INVALID_CONFIGURATION',
          message: expect.stringContaining('<div> is no tool') as string,
        })
        root.render(['text between tools', 5, null, false, undefined])
        expect(namesOf(root)).toEqual([])
      })

      it('may be of any type that `tool` takes: a client tool waits for its answer', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(<Tool name="pick" description="Picks" type="client" requiresResponse />)
        const waiting = await executor.execute({ name: 'pick' })
        expect((await executor.calls.respond(waiting.token!, 'red')).content).toEqual([{ type: 'text', text: 'red' }])
      })

      it('hands progress and the context of the call through', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(
          <Tool
            name="steps"
            description="Steps"
            inputSchema={{ type: 'object', properties: { of: { type: 'integer' } }, required: ['of'] }}
            handler={async function* ({ of }, { toolName, emit }) {
              emit('begin', toolName)
              for (let step = 1; step <= of; step++) yield step
              return json({ of })
            }}
          />,
        )
        const progress: unknown[] = []
        executor.on('tool:progress', ({ type, data }) => void progress.push([type, data]))
        expect(await answerOf(executor, 'steps', { of: 2 })).toEqual({ of: 2 })
        expect(progress).toEqual([
          ['begin', 'steps'],
          ['yield', 1],
          ['yield', 2],
        ])
      })
    })

    describe('a tool that is made already', () => {
      const refund = tool({
        name: 'refund',
        description: 'Refunds',
        inputSchema: z.object({ sum: z.number().default(1) }),
        handler: ({ sum }, { toolName }) => `${toolName} ${sum}`,
      })

      it('is mounted as it is, and is the same definition', async () => {
        const root = createToolRoot()
        root.render(<Tool tool={refund} />)
        expect(root.registry.get('refund')).toBe(createExecutor({ tools: [refund] }).tools()[0])
        const Refund = component(refund)
        root.render(<Refund />)
        expect(namesOf(root)).toEqual(['refund'])
        expect(await answerOf(createExecutor({ tools: root.registry }), 'refund')).toBe('refund 1')
      })

      it('takes overrides of everything but its type, its schemas and its handler', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        const Refund = component(refund)
        root.render(
          <>
            <Refund
              name="refund_now"
              description="Refunds at once"
              aliases={['pay_back']}
              {...({ title: undefined } as object)}
            />
            <Refund requiresConfirmation={({ sum }: { sum: number }) => sum > 5} confirmationMessage="Really?" />
          </>,
        )
        expect(executor.tools().map(({ name, description }) => [name, description])).toEqual([
          ['refund_now', 'Refunds at once'],
          ['refund', 'Refunds'],
        ])
        expect(await answerOf(executor, 'pay_back', { sum: 9 })).toBe('refund_now 9')
        expect(await answerOf(executor, 'refund', { sum: 5 })).toBe('refund 5')
        expect(await answerOf(executor, 'refund', { sum: 'x' })).toBe('E_INVALID_TOOL_ARGS')
        expect(await executor.execute({ name: 'refund', args: { sum: 6 } })).toMatchObject({ status: 'waiting' })
        expect(refund.requiresConfirmation).toBe(false)
        const forced = { handler: () => 'forged', inputSchema: { type: 'object' }, type: 'client' } as object
        root.render(<Refund {...forced} title="Other" />)
        expect(await answerOf(executor, 'refund', { sum: 'x' })).toBe('E_INVALID_TOOL_ARGS')
        expect(await answerOf(executor, 'refund', { sum: 2 })).toBe('refund 2')
      })

      it('rendered as a component itself, never runs its handler: React refuses it', async () => {
        const handler = vi.fn(() => 'ran')
        const made = tool('made', handler)
        const Made = made as unknown as () => null
        const root = createToolRoot(quiet)
        expect(thrownBy(() => root.render(<Made />))).toBeInstanceOf(TypeError)
        await new Promise((resolve) => setTimeout(resolve))
        expect(handler).not.toHaveBeenCalled()
        expect(await made({})).toBe('ran')
        expect(Object.keys(made)).not.toContain('prototype')
        warnings = warnings.filter((words) => !words.includes('getDerivedStateFromProps') && !words.includes('render'))
      })
    })

    describe('what a tool hears', () => {
      const said: string[] = []
      const lifecycle = (name: string): ToolLifecycle => ({
        onMount: (registry) => void said.push(`${name} mounted ${registry.has(name)}`),
        onUnmount: (registry) => void said.push(`${name} unmounted ${registry.has(name)}`),
        onStart: () => void said.push(`${name} start`),
        onTickStart: (_registry, { messages }) => void said.push(`${name} tick ${messages.length}`),
        onTickEnd: (_registry, { messages }) => void said.push(`${name} end ${messages.length}`),
        onMessagesChanged: (_registry, messages) => void said.push(`${name} messages ${messages.length}`),
        onAfterCompile: (_registry, compiled, _state, context) =>
          void said.push(`${name} compiled ${compiled.length} for ${String(context)}`),
        onComplete: (_registry, final) => void said.push(`${name} complete ${String(final)}`),
      })
      const Heard = ({ name, children }: { name: string; children?: ReactNode }): ReactNode => (
        <Tool name={name} description="Hears" handler={() => 1} {...lifecycle(name)}>
          {children}
        </Tool>
      )

      beforeEach(() => void (said.length = 0))

      it('is told of the whole of a loop, in the order in which tools were mounted', async () => {
        const root = createToolRoot()
        root.render([<Heard key="a" name="a" />, <Heard key="b" name="b" />])
        await root.start()
        await root.tickStart({ messages: [1] })
        await root.afterCompile([1, 2], { messages: [1] }, 'anthropic')
        await root.tickEnd({ messages: [1, 2] })
        await root.messagesChanged([1, 2, 3])
        await root.complete('done')
        root.unmount()
        const each = (words: string): string[] => [`a ${words}`, `b ${words}`]
        expect(said).toEqual([
          ...each('mounted true'),
          ...each('start'),
          ...each('tick 1'),
          ...each('compiled 2 for anthropic'),
          ...each('end 2'),
          ...each('messages 3'),
          ...each('complete done'),
          ...each('unmounted false'),
        ])
      })

      it('hears with the methods of the newest render, which see the state of now', async () => {
        const heard: string[] = []
        function Agent(): ReactNode {
          const [turns, setTurns] = useState(0)
          useTool({
            name: 'turns',
            description: 'Turns',
            handler: () => turns,
            onTickEnd: () => (setTurns(turns + 1), void heard.push(`end ${turns}`)),
            onTickStart: () => void heard.push(`start ${turns}`),
          })
          return turns > 1 ? <Tool name="stop" description="Stops" handler={() => 'stopped'} /> : null
        }
        const root = createToolRoot()
        root.render(<Agent />)
        for (let turn = 0; turn < 2; turn++) {
          await root.tickStart({ messages: [] })
          await root.tickEnd({ messages: [] })
        }
        expect(heard).toEqual(['start 0', 'end 0', 'start 1', 'end 1'])
        expect(namesOf(root)).toEqual(['turns', 'stop']) // committed when `tickEnd` resolved
      })

      it('is awaited, also if it was mounted just before', async () => {
        const { promise, open } = gate<void>()
        const root = createToolRoot()
        root.render(
          <Tool
            name="slow"
            description="Slow"
            handler={() => 1}
            onMount={() => promise.then(() => void said.push('connected'))}
            onStart={async () => {
              await Promise.resolve()
              said.push('started')
            }}
          />,
        )
        const started = root.start().then(() => said.push('over'))
        await new Promise((resolve) => setTimeout(resolve))
        expect(said).toEqual([])
        open()
        await started
        expect(said).toEqual(['connected', 'started', 'over'])
      })

      it('harms nothing if it throws: that is reported, and the others hear all', async () => {
        const reports: unknown[] = []
        const root = createToolRoot({
          report(error) {
            reports.push((error as Error).message)
            throw new Error('the reporter is broken too')
          },
        })
        const failing = (): never => {
          throw new Error('mount broke')
        }
        root.render([
          <Tool
            key="bad"
            name="bad"
            description="Bad"
            handler={() => 1}
            onMount={failing}
            onTickStart={() => Promise.reject(new Error('tick broke'))}
          />,
          <Heard key="good" name="good" />,
        ])
        await root.tickStart({ messages: [] })
        expect(namesOf(root)).toEqual(['bad', 'good'])
        expect(reports).toEqual(['mount broke', 'tick broke'])
        expect(said).toEqual(['good mounted true', 'good tick 0'])
      })

      it('may lead on after an error: the first recovery counts, and what is none is reported', async () => {
        const reports: unknown[] = []
        const root = createToolRoot({ report: (error) => void reports.push((error as { code?: string }).code) })
        const state = { error: new Error('overloaded'), messages: [1] }
        expect(await root.error(state)).toBeUndefined()
        const answering = (name: string, onError: ToolLifecycle['onError']): ReactNode => (
          <Tool key={name} name={name} description="Recovers" handler={() => 1} {...(onError && { onError })} />
        )
        root.render([
          answering('silent', () => {}),
          answering('malformed', () => 'retry' as never),
          answering('first', async (_registry, { error }) => ({
            continue: true,
            recoveryMessage: `after ${(error as Error).message}`,
            modifications: (registry) => void registry.remove('silent'),
          })),
          answering('second', () => ({ continue: false })),
        ])
        const recovery = await root.error(state)
        expect(recovery).toMatchObject({ continue: true, recoveryMessage: 'after overloaded' })
        expect(reports).toEqual(['E_INVALID_CONFIGURATION'])
        await recovery?.modifications?.(root.registry)
        expect(namesOf(root)).toEqual(['malformed', 'first', 'second'])
      })

      it('has in its place what it renders of the newest tick, and its children', async () => {
        const root = createToolRoot()
        const answers = (count: number): ReactNode => (
          <Tool name={`answer_${count}`} description="Answers" handler={() => count} />
        )
        function Watching(): ReactNode {
          const tick = useTickState()
          return <Tool name="watch" description={`Has seen ${tick?.messages.length ?? 'none'}`} handler={() => 1} />
        }
        root.render(
          <Tool
            name="chat"
            description="Chats"
            handler={() => 1}
            render={(registry, state) =>
              state === undefined ? null : registry === root.registry && answers(state.messages.length)
            }
          >
            <Watching />
          </Tool>,
        )
        expect(namesOf(root).toSorted()).toEqual(['chat', 'watch'])
        await root.tickStart({ messages: [1, 2] })
        expect(namesOf(root).toSorted()).toEqual(['answer_2', 'chat', 'watch'])
        expect(root.registry.get('watch')?.description).toBe('Has seen 2')
        await root.tickEnd({ messages: [1, 2, 3] })
        expect(namesOf(root).toSorted()).toEqual(['answer_3', 'chat', 'watch'])
      })
    })

    describe('when components come and go', () => {
      it('StrictMode mounts each tool once in the end', async () => {
        const root = createToolRoot()
        const mounts = vi.fn()
        root.render(<StrictMode>{null}</StrictMode>)
        // React for development runs the effects of what is added twice.
        root.render(<StrictMode>{named('strict', { onMount: mounts })}</StrictMode>)
        expect(namesOf(root)).toEqual(['strict'])
        expect(mounts).toHaveBeenCalledTimes(mode === 'development' ? 2 : 1)
        expect(await answerOf(createExecutor({ tools: root.registry }), 'strict')).toBe('strict')
        root.unmount()
        expect(namesOf(root)).toEqual([])
      })

      it('Suspense has the tools of the fallback, then those of the content, and no others', async () => {
        const { promise, open } = gate<string>()
        const { promise: again, open: openAgain } = gate<string>()
        let setData!: (data: Promise<string>) => void
        function Loaded({ data }: { data: Promise<string> }): ReactNode {
          const value = use(data)
          return named('loaded', { handler: () => value })
        }
        function Page(): ReactNode {
          const [data, set] = useState(promise)
          setData = set
          return <Suspense fallback={named('waiting')}>{[<Loaded key="l" data={data} />, named('beside')]}</Suspense>
        }
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        root.render(<Page />)
        expect(namesOf(root)).toEqual(['waiting'])
        open('first')
        await until(() => root.registry.has('loaded'))
        expect(namesOf(root)).toEqual(['loaded', 'beside'])
        setData(again)
        root.flush()
        expect(namesOf(root)).toEqual(['waiting']) // content that is hidden has no tools
        openAgain('second')
        await until(() => root.registry.has('loaded'))
        expect(await answerOf(executor, 'loaded')).toBe('second')
        expect(namesOf(root).toSorted()).toEqual(['beside', 'loaded'])
      })

      it('a component that suspends without a fallback mounts its tools as soon as it can, and a lazy one too', async () => {
        const { promise, open } = gate<number>()
        const Late = lazy(async () => ({ default: () => named('late') }))
        function Waiting(): ReactNode {
          return named(`tool_${use(promise)}`)
        }
        const root = createToolRoot()
        root.render([<Waiting key="w" />, <Late key="l" />])
        expect(namesOf(root)).toEqual([])
        open(5)
        await until(() => root.registry.list().length === 2)
        expect(namesOf(root)).toEqual(['tool_5', 'late'])
      })

      it('a hidden Activity has no tools, and keeps its state', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        function Counter(): ReactNode {
          const [count, setCount] = useState(0)
          return named('more', { handler: () => (setCount(count + 1), count) })
        }
        const show = (shown: 'visible' | 'hidden'): void =>
          root.render(<Activity mode={shown}>{['text', <Counter key="c" />]}</Activity>)
        show('visible')
        expect(await answerOf(executor, 'more')).toBe('0')
        show('hidden')
        expect(await answerOf(executor, 'more')).toBe('E_TOOL_NOT_FOUND')
        show('visible')
        expect(await answerOf(executor, 'more')).toBe('1')
      })

      it('a transition keeps the tools of before until those of after are there, in a ViewTransition too', async () => {
        const { promise, open } = gate<string>()
        let go!: () => void
        function Next(): ReactNode {
          return named(use(promise))
        }
        function Page(): ReactNode {
          const [isNext, setNext] = useState(false)
          const [isWaiting, start] = useTransition()
          go = () => start(() => setNext(true))
          return (
            <ViewTransition>
              {isWaiting && named('waiting')}
              {isNext ? <Next /> : named('before')}
            </ViewTransition>
          )
        }
        const root = createToolRoot()
        root.render(
          <Suspense fallback={named('fallback')}>
            <Page />
          </Suspense>,
        )
        expect(namesOf(root)).toEqual(['before'])
        go()
        root.flush()
        expect(namesOf(root)).toEqual(['before', 'waiting'])
        open('after')
        await until(() => root.registry.has('after'))
        expect(namesOf(root)).toEqual(['after'])
      })

      it('effects and state that they set are committed before `render` returns', () => {
        function Effect(): ReactNode {
          const [step, setStep] = useState(0)
          useEffect(() => void (step < 20 && setStep(step + 1)), [step])
          return named(`step_${step}`)
        }
        const root = createToolRoot()
        root.render(<Effect />)
        expect(namesOf(root)).toEqual(['step_20'])
      })

      it('a call in flight at unmount ends, a call that has not begun is refused, and new ones find no tool', async () => {
        const { promise, open } = gate<string>()
        const ran = vi.fn()
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry, concurrency: 1 })
        const handler = async (_input: unknown, { invocationId }: ToolContext): Promise<string> => {
          ran(invocationId)
          return promise
        }
        root.render(named('slow', { handler }))
        const turn = executor.executeToolCalls([{ name: 'slow' }, { name: 'slow' }])
        await until(() => ran.mock.calls.length === 1)
        root.unmount()
        open('finished')
        const [first, second] = await turn
        expect(first).toMatchObject({ status: 'ok', content: [{ text: 'finished' }] })
        expect(second?.error?.message).toContain('was unmounted before the call began')
        expect(ran).toHaveBeenCalledOnce()
        expect(await answerOf(executor, 'slow')).toBe('E_TOOL_NOT_FOUND')
      })

      it('an approval is void for a tool that is gone or told anew, and good for one that is mounted again unchanged', async () => {
        const root = createToolRoot()
        const executor = createExecutor({ tools: root.registry })
        const ran = vi.fn(() => 'deleted')
        const show = (more: object = {}): void =>
          root.render(named('delete', { requiresConfirmation: true, handler: () => ran(), ...more }))
        const decide = async (token: string | undefined): Promise<string | undefined> =>
          executor.calls.decide(token!, 'allow').then(
            ({ status }) => status,
            ({ code }: { code: string }) => code,
          )
        show()
        const { token } = await executor.execute({ name: 'delete' })
        root.render(null)
        expect(await decide(token)).toBe('E_APPROVAL_INVALID')
        show({ description: 'Deletes everything' })
        expect(await decide(token)).toBe('E_APPROVAL_INVALID')
        expect(ran).not.toHaveBeenCalled()
        root.render(null)
        show()
        expect(await decide(token)).toBe('ok')
        expect(ran).toHaveBeenCalledOnce()
      })

      it('a name twice throws from `render`, and nothing of that tree stays', () => {
        const root = createToolRoot(quiet)
        root.render(named('other'))
        const twice = [named('dup'), <Tool key="2" name="dup" description="Again" handler={() => 2} />]
        expect(thrownBy(() => root.render(twice))).toMatchObject({ code: 'E_TOOL_ALREADY_REGISTERED' })
        expect(namesOf(root)).toEqual([])
        root.render(named('dup'))
        expect(namesOf(root)).toEqual(['dup'])
      })

      it('a component that takes the place of another in one commit may have its name', () => {
        const root = createToolRoot()
        for (const key of ['a', 'b']) {
          root.render(<Tool key={key} name="swap" description={key} handler={() => key} />)
          expect(root.registry.get('swap')?.description).toBe(key)
        }
      })

      it('two roots share a registry or have their own, and one that fails takes nothing from the other', () => {
        const shared = createToolRoot()
        const beside = createToolRoot({ registry: shared.registry, ...quiet })
        shared.render(named('one'))
        beside.render(named('two'))
        expect(namesOf(shared)).toEqual(['one', 'two'])
        expect(thrownBy(() => beside.render([named('two'), named('one')]))).toMatchObject({
          code: 'E_TOOL_ALREADY_REGISTERED',
        })
        expect(namesOf(shared)).toEqual(['one'])
        const apart = createToolRoot()
        apart.render(named('one'))
        expect(namesOf(apart)).toEqual(['one'])
        shared.unmount()
        expect([namesOf(shared), namesOf(apart)]).toEqual([[], ['one']])
      })

      it('a render that throws, throws; a later one takes all tools away and is reported', () => {
        const reports: unknown[] = []
        const root = createToolRoot({ report: (error) => void reports.push((error as Error).message) })
        let fail!: () => void
        function Fragile(): ReactNode {
          const [isBroken, setBroken] = useState(false)
          fail = () => setBroken(true)
          if (isBroken) throw new Error('render broke later')
          return named('fragile')
        }
        const Broken = (): ReactNode => {
          throw new Error('render broke')
        }
        expect(thrownBy(() => root.render([named('fine'), <Broken key="b" />]))).toMatchObject({
          message: 'render broke',
        })
        expect(namesOf(root)).toEqual([])
        root.render([named('fine'), <Fragile key="f" />])
        expect(namesOf(root)).toEqual(['fine', 'fragile'])
        fail()
        root.flush()
        expect(namesOf(root)).toEqual([])
        expect(reports).toEqual(['render broke later'])
      })

      it('an error boundary keeps the rest, and what it caught is reported', () => {
        const reports: unknown[] = []
        const root = createToolRoot({ report: (error) => void reports.push((error as Error).message) })
        class Boundary extends Component<{ children: ReactNode }, { isBroken: boolean }> {
          override state = { isBroken: false }
          static getDerivedStateFromError(): { isBroken: boolean } {
            return { isBroken: true }
          }
          override render(): ReactNode {
            return this.state.isBroken ? named('instead') : this.props.children
          }
        }
        const Broken = (): ReactNode => {
          throw new Error('inner broke')
        }
        root.render([
          named('rest'),
          <Boundary key="b">
            <Broken />
          </Boundary>,
        ])
        expect(namesOf(root)).toEqual(['rest', 'instead'])
        expect(reports).toEqual(['inner broke'])
      })

      it('an endless loop of updates ends with an error', () => {
        const root = createToolRoot(quiet)
        function Endless(): ReactNode {
          const [step, setStep] = useState(0)
          useEffect(() => setStep(step + 1))
          return named('endless')
        }
        expect(String(thrownBy(() => root.render(<Endless />)))).toMatch(/Maximum update depth|#185/)
        expect(namesOf(root)).toEqual([])
      })

      it('1,000 tools come and go in a second or so', () => {
        const root = createToolRoot()
        const many = Array.from({ length: 1_000 }, (_, index) => named(`tool_${index}`))
        root.render(many)
        expect(namesOf(root)).toHaveLength(1_000)
        root.render(many.slice(500))
        expect(namesOf(root)).toHaveLength(500)
      })
    })

    describe('a sub-agent as a tool', () => {
      it('has the tools of its component for each call, hears of its start and end, and takes a prompt', async () => {
        const heard: string[] = []
        function Researcher({ input }: { input: { prompt: string } }): ReactNode {
          useTool({
            name: 'look_up',
            description: `Looks up for: ${input.prompt}`,
            handler: () => input.prompt.toUpperCase(),
            onStart: () => void heard.push('start'),
            onComplete: (_registry, final) => void heard.push(`complete ${String(final)}`),
            onUnmount: () => void heard.push('unmounted'),
          })
          return null
        }
        const research = componentTool({
          name: 'research',
          description: 'Researches',
          component: Researcher,
          async run({ root, context }) {
            const { session, signal } = context
            const inner = createExecutor({ tools: root.registry })
            const [looked] = await inner.executeToolCalls([{ name: 'look_up' }], { session, signal })
            return looked?.content[0]?.type === 'text' ? looked.content[0].text : 'nothing'
          },
        })
        const executor = createExecutor({ tools: [research] })
        expect(executor.tools()[0]?.describe().inputSchema).toEqual({
          type: 'object',
          properties: { prompt: { type: 'string' } },
          required: ['prompt'],
          additionalProperties: false,
        })
        expect(await answerOf(executor, 'research', { prompt: 'tea' })).toBe('TEA')
        expect(heard).toEqual(['start', 'complete TEA', 'unmounted'])
        expect(await answerOf(executor, 'research', { prompt: 5 })).toBe('E_INVALID_TOOL_ARGS')
      })

      it('loses its tools when its call is cancelled, and fails with its loop', async () => {
        const { promise, open } = gate<void>()
        let left: number | undefined
        const slow = componentTool({
          name: 'slow',
          description: 'Slow',
          inputSchema: z.object({ fails: z.boolean() }),
          component: () => named('inner'),
          async run({ root, input, context }) {
            if (input.fails) throw new Error('the loop broke')
            const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve))
            open()
            await aborted
            left = root.registry.list().length
          },
        })
        const executor = createExecutor({ tools: [slow] })
        const controller = new AbortController()
        const call = executor.execute({ name: 'slow', args: { fails: false } }, { signal: controller.signal })
        await promise
        controller.abort()
        expect(await call).toMatchObject({ status: 'cancelled' })
        await until(() => left !== undefined)
        expect(left).toBe(0)
        const failed = await executor.execute({ name: 'slow', args: { fails: true } })
        expect(failed.error?.message).toContain('the loop broke')
      })
    })
  })
}
