import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { inputRequired } from '@modelcontextprotocol/server'
import { tool, type Tool } from 'toolwright'
import { mcpClient } from 'toolwright/mcp/server'
import { describe, expect, test, vi } from 'vitest'
import { connect, eras, start, textOf, type Mode } from './_server.ts'

const asksForm = { capabilities: { elicitation: { form: {} } } }

interface Deploying {
  readonly deploy: Tool
  readonly runs: unknown[]
}

function deploying(): Deploying {
  const runs: unknown[] = []
  const deploy = tool({
    name: 'deploy',
    description: 'Deploys',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
    requiresConfirmation: true,
    confirmationMessage: 'Deploy it?',
    handler: async function* (input) {
      yield 'on the way'
      runs.push(input)
      return 'deployed'
    },
  }) as unknown as Tool
  return { deploy, runs }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns how many of the objects are still in use. */
async function livingOf(objects: readonly WeakRef<object>[]): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    collect()
  }
  return objects.filter((each) => each.deref() !== undefined).length
}

/** Answers what the client's user is asked; gives what was asked. */
function answering(client: Client, answer: object): unknown[] {
  const asked: unknown[] = []
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params)
    return answer as never
  })
  return asked
}

describe.each(eras)('in the era of %s, a call that needs approval', (_, mode) => {
  test("runs once the client's user has said yes, and tells how far it is", async () => {
    const { deploy, runs } = deploying()
    const { url, executor } = await start({ tools: [deploy] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { approve: true } })
    const decisions: unknown[] = []
    executor.on('call:resumed', ({ decision, decidedBy }) => void decisions.push([decision, decidedBy]))
    const heard: unknown[] = []
    const result = await client.callTool(
      { name: 'deploy', arguments: { to: 'production' } },
      { onprogress: ({ message }) => void heard.push(message) },
    )
    expect(textOf(result)).toBe('deployed')
    expect(runs).toEqual([{ to: 'production' }])
    expect(heard).toContain('on the way')
    expect(asked).toMatchObject([
      {
        message: 'Deploy it?\ndeploy {"to":"production"}',
        requestedSchema: { properties: { approve: { type: 'boolean' } } },
      },
    ])
    expect(decisions).toEqual([['allow', 'mcp client']])
  })

  test('shows the whole of what would run and why, with nothing that deceives', async () => {
    const deploy = tool({
      name: 'deploy',
      description: 'Deploys',
      inputSchema: { type: 'object', properties: { to: { type: 'string' }, key: { type: 'string' } } },
      secrets: ['/key'],
      handler: () => 'deployed',
    }) as unknown as Tool
    const decide = () => ({ decision: 'ask' as const, reason: 'it is\nFriday' })
    const { url } = await start({ tools: [deploy], use: [{ policies: [{ name: 'friday', decide }] }] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'decline' })
    const to = `\u202e\u001b[31m${'x'.repeat(5_000)}${' '.repeat(500)}; rm -rf /`
    await client.callTool({ name: 'deploy', arguments: { to, key: 'canary' } })
    const [{ message }] = asked as [{ message: string }]
    expect(message.split('\n').map((line) => line.slice(0, 60))).toEqual([
      'Allow deploy to execute?',
      'Reason: it is\\nFriday',
      'deploy {',
      '  "key": "[secret]",',
      '  "to": "\\u202e\\u001b[31mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
      '}',
    ])
    expect(message).toContain(`${'x'.repeat(5_000)}${'\\u0020'.repeat(500)}; rm -rf /"`)
  })

  test('opens the address of a consent too, for the user alone', async () => {
    const { deploy, runs } = deploying()
    const url = 'https://accounts.example/connect?state=1'
    const decide = () => ({ decision: 'ask' as const, reason: 'Connect', meta: { consent: { scheme: 'token', url } } })
    const { url: server } = await start({ tools: [deploy], use: [{ policies: [{ name: 'consent', decide }] }] })
    const answers = [
      [{ action: 'accept', content: { approve: true } }, { action: 'accept' }, 1],
      [{ action: 'accept', content: { approve: true } }, { action: 'decline' }, 1],
      [{ action: 'decline' }, { action: 'accept' }, 1],
    ] as const
    for (const [approval, consent, count] of answers) {
      const client = await connect(server, mode, { capabilities: { elicitation: { form: {}, url: {} } } })
      const asked: unknown[] = []
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params)
        return params.mode === 'url' ? consent : approval
      })
      const result = await client.callTool({ name: 'deploy', arguments: {} })
      expect(asked).toHaveLength(2)
      expect(asked).toContainEqual(
        expect.objectContaining({
          mode: 'url',
          url,
          message: 'deploy needs an access that you give at accounts.example.',
        }),
      )
      expect(runs).toHaveLength(count)
      expect(JSON.stringify(result)).not.toContain('state=1')
    }
    // A client that opens no addresses is not asked, and the call goes on waiting.
    const client = await connect(server, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { approve: true } })
    expect(await client.callTool({ name: 'deploy', arguments: {} })).toMatchObject({ isError: true })
    expect([asked, runs.length]).toEqual([[], 1])
  })

  test('shows gaps of every kind of space', async () => {
    const { url } = await start({ tools: [deploying().deploy] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'decline' })
    await client.callTool({ name: 'deploy', arguments: { to: `a${'\u00a0'.repeat(9)}b${'\u2800'.repeat(9)}c` } })
    const to = `a${'\\u00a0'.repeat(9)}b${'\\u2800'.repeat(9)}c`
    const [{ message }] = asked as [{ message: string }]
    expect(message).toContain(`"${to}"`)
  })

  test('is not put to the user if the question cannot show its whole args', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy], argsLimit: 2_000_000 })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { approve: true } })
    const result = await client.callTool({ name: 'deploy', arguments: { to: 'x'.repeat(300_000) } })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/has not run yet: it waits for approval/)
    expect([asked, runs]).toEqual([[], []])
  })

  test('tells what the message of the tool hides, on one line', async () => {
    const confirmationMessage = ({ to }: { readonly to?: string }): string => `Deploy to ${to}?`
    const deploy = deploying().deploy.with({ confirmationMessage })
    const { url } = await start({ tools: [deploy] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'decline' })
    await client.callTool({ name: 'deploy', arguments: { to: 'test?\ndeploy {"to":"test"}' } })
    const [{ message }] = asked as [{ message: string }]
    expect(message.split('\n')[0]).toBe('Deploy to test?\\ndeploy {"to":"test"}?')
  })

  test.each([
    ['says no', { action: 'accept', content: { approve: false } }],
    ['says something else', { action: 'accept', content: { approve: 'yes' } }],
    ['declines', { action: 'decline' }],
    ['closes the question', { action: 'cancel' }],
  ])('does not run where the user %s', async (__, answer) => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] })
    const client = await connect(url, mode, asksForm)
    answering(client, answer)
    const result = await client.callTool({ name: 'deploy', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/denied/i)
    expect(runs).toEqual([])
  })

  test.each([
    ['that cannot ask', {}],
    ['that can only open a page', { capabilities: { elicitation: { url: {} } } }],
  ])('comes back as an error from a client %s, and says that approval is awaited', async (__, options) => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] })
    const result = await (await connect(url, mode, options)).callTool({ name: 'deploy', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/has not run yet: it waits for approval/)
    expect(JSON.stringify(result.content)).toContain('it does not declare `elicitation`')
    expect(runs).toEqual([])
  })

  test('can be given up after the yes', async () => {
    const aborted = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      requiresConfirmation: true,
      handler: (___, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve())
        begun.resolve()
        return new Promise(() => {})
      },
    })
    const { url } = await start({ tools: [wait] })
    const client = await connect(url, mode, asksForm)
    answering(client, { action: 'accept', content: { approve: true } })
    const leaving = new AbortController()
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: leaving.signal })
    await begun.promise
    leaving.abort()
    await expect(call).rejects.toThrow()
    await aborted.promise
  })

  test('waits for the host alone where the application says so', async () => {
    const { deploy, runs } = deploying()
    const { url, executor } = await start({ tools: [deploy] }, { approvals: 'application' })
    let token: string | undefined
    executor.on('call:waiting', (event) => void (token = event.token))
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { approve: true } })
    const result = await client.callTool({ name: 'deploy', arguments: {} })
    expect([result.isError, asked, runs]).toEqual([true, [], []])
    expect(JSON.stringify(result.content)).not.toContain('elicitation')
    expect((await executor.calls.decide(token ?? '', 'allow')).status).toBe('ok')
    expect(runs).toHaveLength(1)
  })

  test('keeps no server of the SDK while it waits for the application, and its client can no longer be asked', async () => {
    const servers: WeakRef<object>[] = []
    const asked: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      requiresConfirmation: true,
      handler: async (_input, context) => {
        const client = mcpClient(context)
        const question = inputRequired.elicit({ message: '?', requestedSchema: { type: 'object', properties: {} } })
        asked.push(client?.capabilities, await client?.ask({ question }).catch(String))
      },
    }) as unknown as Tool
    const extend = (server: object): void => void servers.push(new WeakRef(server))
    const { url, executor } = await start({ tools: [pay] }, { approvals: 'application', extend })
    for (let count = 0; count < 10; count++) {
      const client = await connect(url, mode, asksForm)
      await client.callTool({ name: 'pay', arguments: {} })
      await (client.transport as StreamableHTTPClientTransport).terminateSession() // or the server keeps it
      await client.close()
    }
    const waiting = await executor.calls.waiting()
    expect([waiting.length, servers.length >= 10]).toEqual([10, true])
    expect(await livingOf(servers.slice(0, -4))).toBe(0)
    expect(await executor.calls.decide(waiting[0]!, 'allow')).toMatchObject({ status: 'ok' })
    expect(asked).toEqual([
      expect.objectContaining({ elicitation: { form: {} } }),
      expect.stringContaining('its request is over'),
    ])
  })

  test('asks whom the executor asks, and not the client, where there is an approver', async () => {
    const { deploy, runs } = deploying()
    const approver = { ask: async () => ({ decision: 'deny' as const, note: 'not on Fridays' }) }
    const { url } = await start({ tools: [deploy], use: [{ approver }] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { approve: true } })
    expect(textOf(await client.callTool({ name: 'deploy', arguments: {} }))).toContain('not on Fridays')
    expect([asked, runs]).toEqual([[], []])
  })
})

describe.each(eras)('in the era of %s, a handler', (_, mode) => {
  const greet = tool('greet', async (__, context) => {
    const client = mcpClient(context)
    const answers = await client?.ask({
      name: inputRequired.elicit({
        message: 'Your name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      }),
    })
    return `${client?.name}: ${JSON.stringify(answers?.['name'])}`
  })

  test("asks the client's user, and runs once", async () => {
    const { url } = await start({ tools: [greet] })
    const client = await connect(url, mode, asksForm)
    const asked = answering(client, { action: 'accept', content: { name: 'Ada' } })
    const text = textOf(await client.callTool({ name: 'greet', arguments: {} }))
    expect(text).toBe('test: {"action":"accept","content":{"name":"Ada"}}')
    expect(asked).toHaveLength(1)
  })

  test('that does not wait for an answer harms nobody', async () => {
    const careless = tool('careless', (__, context) => {
      void mcpClient(context)?.ask({ roots: inputRequired.listRoots() })
      return 'done'
    })
    const { url } = await start({ tools: [careless] })
    const outcome: unknown = await (
      await connect(url, mode)
    )
      .callTool({ name: 'careless', arguments: {} })
      .then(textOf, (error: unknown) => error)
    if (mode === 'legacy') expect(outcome).toBe('done')
    else expect(outcome).toMatchObject({ code: -32_021 })
  })

  test('that asks a client which cannot be asked does not wait for it', async () => {
    const { url, executor } = await start({ tools: [greet] })
    const settled = new Promise<string>((resolve) => executor.on('call:settled', ({ status }) => resolve(status)))
    const outcome: unknown = await (
      await connect(url, mode)
    )
      .callTool({ name: 'greet', arguments: {} })
      .then(textOf, (error: unknown) => error)
    if (mode === 'legacy') expect(outcome).toMatch(/cannot be asked/)
    else expect(outcome).toMatchObject({ code: -32_021, data: { requiredCapabilities: { elicitation: {} } } })
    expect(await settled).not.toBe('ok')
  })
})

describe.each(eras)('in the era of %s, of two principals', (_, mode) => {
  test('the one that leaves too many questions open loses its own oldest call, and the other none', async () => {
    const asks = tool('asks', async (__, context) => {
      const question = inputRequired.elicit({ message: 'Well?', requestedSchema: { type: 'object', properties: {} } })
      return JSON.stringify(await mcpClient(context)?.ask({ question }))
    })
    const options = { token: (key: string) => key, questionsPerPrincipal: 2 }
    const { url, executor } = await start({ tools: [asks], timeout: 0 }, {}, options)
    const settled: unknown[] = []
    executor.on('call:settled', ({ principal, status }) => void settled.push([principal, status]))
    const as = (name: string): Promise<Client> => connect(url, mode, asksForm, { authorization: `Bearer ${name}` })
    const [ada, ben] = [await as('ada'), await as('ben')]
    let asked = 0
    const yes = Promise.withResolvers<{ action: 'decline' }>()
    for (const client of [ada, ben]) {
      client.setRequestHandler('elicitation/create', () => {
        asked++
        return client === ben ? yes.promise : new Promise(() => {})
      })
    }
    const answer = ben.callTool({ name: 'asks', arguments: {} })
    await vi.waitFor(() => expect(asked).toBe(1), 30_000)
    for (let count = 2; count <= 4; count++) {
      ada.callTool({ name: 'asks', arguments: {} }).catch(() => {}) // nobody will answer
      await vi.waitFor(() => expect(asked).toBe(count), 30_000)
    }
    await vi.waitFor(() => expect(settled).toEqual([['ada', 'cancelled']]), 30_000)
    yes.resolve({ action: 'decline' })
    expect(textOf(await answer)).toContain('decline')
  })
})

test('a handler that is called by no client of the protocol finds none', async () => {
  const seen: unknown[] = []
  const { executor } = await start({ tools: [tool('look', (_, context) => void seen.push(mcpClient(context)))] })
  await executor.execute({ name: 'look' })
  expect(seen).toEqual([undefined])
})

describe('a question to a client of the newer era', () => {
  const pin: Mode = { pin: '2026-07-28' }
  const yes = { approval: { action: 'accept', content: { approve: true } } }
  type Answer = Record<string, unknown> & { requestState?: string; inputRequests?: Record<string, unknown> }

  /** A client that answers by itself, with whatever it likes. */
  async function manual(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<(params: object) => Promise<Answer>> {
    let id = 0
    return async (params) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      }
      const name = (params as { readonly name?: string }).name ?? 'deploy'
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: id++,
          method: 'tools/call',
          params: { name, arguments: {}, ...params, _meta },
        }),
      })
      const { result, error } = (await response.json()) as { readonly result?: Answer; readonly error?: Answer }
      return result ?? error ?? {}
    }
  }

  test('is not answered before it is asked', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] })
    const call = await manual(url)
    expect(await call({ inputResponses: yes })).toMatchObject({ resultType: 'input_required' })
    expect(runs).toEqual([])
  })

  test('is answered once, whoever tries again', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] })
    const call = await manual(url)
    const { requestState } = await call({})
    const answers = await Promise.all(Array.from({ length: 20 }, () => call({ inputResponses: yes, requestState })))
    expect(answers.filter(({ content }) => content !== undefined)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === -32_602)).toHaveLength(19)
    expect(runs).toHaveLength(1)
  })

  test('is about the call that it was asked for, and no other', async () => {
    const { deploy, runs } = deploying()
    const other = tool('other', () => runs.push('other'))
    const { url } = await start({ tools: [deploy, other] as Tool[] })
    const call = await manual(url)
    const { requestState } = await call({ arguments: { to: 'staging' } })
    const answer = { inputResponses: yes, requestState }
    expect(await call({ ...answer, arguments: { to: 'production' } })).toMatchObject({ code: -32_602 })
    expect(await call({ ...answer, name: 'other' })).toMatchObject({ code: -32_602 })
    expect(runs).toEqual([])
    expect(await call({ ...answer, arguments: { to: 'staging' } })).toMatchObject({ content: [{ text: 'deployed' }] })
    expect(runs).toEqual([{ to: 'staging' }])
  })

  test('is answered by nobody but whom it was put to', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] }, {}, { token: (key) => key })
    const ada = await manual(url, { authorization: 'Bearer ada' })
    const ben = await manual(url, { authorization: 'Bearer ben' })
    const { requestState } = await ada({})
    expect(await ben({ inputResponses: yes, requestState })).toMatchObject({ code: -32_602 })
    expect(runs).toEqual([])
    expect(await ada({ inputResponses: yes, requestState })).toMatchObject({ content: [{ text: 'deployed' }] })
  })

  test('is answered, although another principal has asked for a thousand and one others meanwhile', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] }, {}, { token: (key) => key })
    const ada = await manual(url, { authorization: 'Bearer ada' })
    const ben = await manual(url, { authorization: 'Bearer ben' })
    const { requestState } = await ben({})
    for (let asked = 0; asked < 1_001; asked += 77) await Promise.all(Array.from({ length: 77 }, () => ada({})))
    expect(await ben({ inputResponses: yes, requestState })).toMatchObject({ content: [{ text: 'deployed' }] })
    expect(runs).toHaveLength(1)
  }, 180_000)

  test('is put again where the answer leaves it open', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] })
    const call = await manual(url)
    const first = await call({})
    const second = await call({ inputResponses: { else: { action: 'accept' } }, requestState: first.requestState })
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: first.inputRequests })
    expect(second.requestState).not.toBe(first.requestState)
    expect(await call({ inputResponses: yes, requestState: second.requestState })).toMatchObject({ content: [{}] })
    expect(runs).toHaveLength(1)
  })

  test('that nobody answers in time is over', async () => {
    const { deploy, runs } = deploying()
    const { url } = await start({ tools: [deploy] }, { answerTimeout: 20 })
    const call = await manual(url)
    const { requestState } = await call({})
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await call({ inputResponses: yes, requestState })).toMatchObject({ code: -32_602 })
    expect(runs).toEqual([])
  })

  test('is over with the server that would hear the answer', async () => {
    const left = Promise.withResolvers<unknown>()
    const asking = tool({
      name: 'asking',
      description: 'asks',
      handler: async (_: unknown, context) => {
        const question = inputRequired.elicit({
          message: 'Well?',
          requestedSchema: { type: 'object', properties: { well: { type: 'boolean' } } },
        })
        await mcpClient(context)?.ask({ question }).catch(left.resolve)
      },
    })
    const { url, close } = await start({ tools: [asking], timeout: 0 })
    const call = await manual(url)
    expect(await call({ name: 'asking' })).toMatchObject({ resultType: 'input_required' })
    await close()
    expect(await left.promise).toMatchObject({ message: 'The client has not answered.' })
  })

  test('does not outlive the executor', async () => {
    const { deploy, runs } = deploying()
    const { url, executor } = await start({ tools: [deploy] })
    const client = await connect(url, pin, asksForm)
    client.setRequestHandler('elicitation/create', async () => {
      await executor.close()
      return { action: 'accept', content: { approve: true } }
    })
    const result = await client.callTool({ name: 'deploy', arguments: {} })
    expect(result.isError).toBe(true)
    expect(runs).toEqual([])
  })
})
