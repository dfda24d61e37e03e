// A server of MCP over its standard streams that does what its tools are called, well or badly. It lists the definitions of
// the variable TOOLS as they are, and writes down what happens to it in the file that is its first argument.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly arguments?: Record<string, unknown>
    readonly cursor?: string
    readonly _meta?: { readonly progressToken?: number; readonly traceparent?: string }
  }
  readonly result?: unknown
  readonly error?: unknown
}

const [, , log = '', ...rest] = process.argv
const { TOOLS = '[]', LIST = 'once' } = process.env
let tools = JSON.parse(TOOLS) as unknown[]
let pages = 0
const asked = new Map<number, (answer: unknown) => void>()

function note(line: string): void {
  appendFileSync(log, `${line}\n`)
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

function listChanged(): void {
  say({ method: 'notifications/tools/list_changed' })
}

const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })

function page(cursor: string | undefined): object {
  note('list')
  if (LIST === 'endless') {
    return { tools: [{ name: `tool_${pages++}`, inputSchema: { type: 'object' } }], nextCursor: String(pages) }
  }
  if (LIST === 'circle') return { tools: pages++ === 0 ? tools : [], nextCursor: 'again' }
  if (LIST === 'pages') {
    const index = Number(cursor ?? 0)
    return { tools: tools.slice(index, index + 2), ...(index + 2 < tools.length && { nextCursor: String(index + 2) }) }
  }
  const isRestarted = LIST === 'restarted' && (readFileSync(log, 'utf8').match(/^start$/gm)?.length ?? 0) > 1
  if (isRestarted) return { tools: tools.map((tool) => Object.assign({}, tool, { description: 'After the restart' })) }
  return { tools: LIST === 'shapeless' ? 'none' : tools }
}

const run: Readonly<Record<string, (args: Record<string, unknown>, message: Message) => unknown>> = {
  echo: (args) => text(JSON.stringify(args)),
  answer: (args) => args['result'],
  die: () => process.exit(1),
  die_once: () => (readFileSync(log, 'utf8').match(/^call /gm)?.length === 1 ? process.exit(1) : text('alive')),
  hang: () => undefined,
  huge: () => text('x'.repeat(2_000_000)),
  surroundings: () => text(JSON.stringify({ env: process.env, args: rest, cwd: process.cwd() })),
  flood(_args, { params }) {
    const progressToken = params?._meta?.progressToken
    for (let progress = 1; progress <= 5_000; progress++) {
      say({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 5_000, message: 'x'.repeat(2_000) },
      })
    }
    return text('flooded')
  },
  change(args) {
    tools = args['tools'] as unknown[]
    listChanged()
    return text('changed')
  },
  storm() {
    for (let index = 0; index < 2_000; index++) listChanged()
    return text('stormed')
  },
  async ask() {
    const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } }
    say({ id: 900, method: 'elicitation/create', params: { message: 'Are you sure?', requestedSchema } })
    return text(JSON.stringify(await new Promise((resolve) => asked.set(900, resolve))))
  },
}

async function call(message: Message): Promise<void> {
  const { name = '', arguments: args = {} } = message.params ?? {}
  note(`call ${name} ${JSON.stringify(args)}`)
  const trace = message.params?._meta?.traceparent
  if (trace !== undefined) note(`meta traceparent ${trace}`)
  const work = run[name]
  if (work === undefined) {
    say({ id: message.id, error: { code: -32_602, message: `Unknown tool: ${name}` } })
    return
  }
  const result = await work(args, message)
  if (result !== undefined) say({ id: message.id, result })
}

note('start')
if (process.env['STILLBORN'] === 'yes') {
  console.error('no configuration \u001b[31mfound')
  process.exit(2)
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message
  const { id, method, params } = message
  if (method === undefined) asked.get(Number(id))?.(message.result ?? message.error)
  else if (method === 'tools/call') void call(message)
  else if (method === 'tools/list') say({ id, result: page(params?.cursor) })
  else if (method === 'notifications/cancelled') note('cancelled')
  else if (method === 'initialize') {
    const { clientInfo, protocolVersion } = params as {
      readonly clientInfo?: { readonly version: string }
      readonly protocolVersion?: string
    }
    note(`client ${clientInfo?.version ?? ''}`)
    const capabilities = { tools: { listChanged: true } }
    say({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'scripted', version: '1' } } })
  } else if (id !== undefined) say({ id, error: { code: -32_601, message: 'Method not found' } })
}
