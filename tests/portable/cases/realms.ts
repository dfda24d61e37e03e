import { computeCallId, createExecutor, tool } from 'toolwright'
import { never, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'

type Realm = typeof globalThis

/** Another realm: a frame of a page, else another context of the engine. */
async function foreignRealm(): Promise<Realm> {
  const { document } = globalThis as { document?: { createElement(name: string): never; body: never } }
  if (document !== undefined) {
    const frame: { contentWindow: Realm } = document.createElement('iframe')
    ;(document.body as { append(child: unknown): void }).append(frame)
    return frame.contentWindow
  }
  // By a name that no bundler follows, since bundles for browsers come here too.
  const name = 'node:vm'
  const { runInNewContext } = (await import(name)) as typeof import('node:vm')
  return runInNewContext('globalThis', { AbortController }) as Realm
}

export const realms: readonly Case[] = [
  {
    name: 'realms: args, results, errors, bytes and signals of another realm',
    needs: ['realms'],
    async run() {
      const realm = await foreignRealm()
      const parse = (text: string): unknown => realm.JSON.parse(text)
      const tools = [
        tool({
          name: 'echo',
          description: 'Gives back',
          inputSchema: { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } } },
          handler: (args) => args,
        }),
        tool('object', () => parse('{"a":[1,{"b":2}]}')),
        tool('buffer', () => new realm.ArrayBuffer(3)),
        tool('bytes', () => new realm.Uint8Array(4)),
        tool('promise', () => realm.Promise.resolve(7)),
        tool('error', () => {
          throw new realm.TypeError('far')
        }),
        tool('hang', () => never),
      ]
      const executor = createExecutor({ tools })
      const textOf = async (name: string, args?: unknown): Promise<string> =>
        words(await executor.execute({ name, args }))
      same(await textOf('echo', parse('{"a":[1,2]}')), '{"a":[1,2]}')
      same([await textOf('object'), await textOf('promise')], ['{"a":[1,{"b":2}]}', '7'])
      same((await executor.execute({ name: 'echo', args: parse('{"a":["x"]}') })).error?.code, 'E_INVALID_TOOL_ARGS')
      const sizes = ['buffer', 'bytes'].map(async (name) => (await executor.execute({ name })).artifact?.byteLength())
      same(await Promise.all(sizes), [3, 4])
      same((await executor.execute({ name: 'error' })).error?.code, 'E_TOOL_DOWNSTREAM_ERROR')
      same(computeCallId('x', parse('{"b":1,"a":"é"}')), computeCallId('x', { a: 'é', b: 1 }))
      const caller = new realm.AbortController()
      const running = executor.execute({ name: 'hang' }, { signal: caller.signal })
      caller.abort()
      same((await running).status, 'cancelled')
    },
  },
]
