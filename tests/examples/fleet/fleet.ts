/**
 * Two processes: one makes calls, the other runs them. The other is killed in the middle of two calls, and a third takes over.
 *
 *   npm run demo:fleet
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createExecutor, tool, type Extension, type Tool } from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { createWorker } from 'toolwright/distributed/worker'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { fileStore } from 'toolwright/stores/file'
import { startRedis } from '../../servers/redis.ts'

const staleAfter = 10_000
const [role, directory = '', redisUrl = ''] = process.argv.slice(2)

/** Ends in its second run. In its first it says that it has begun, and waits to be killed. */
async function slowly({ attempt, toolName }: { attempt: number; toolName: string }): Promise<string> {
  if (attempt === 1) {
    process.send?.(toolName)
    await new Promise(() => {})
  }
  return `by process ${process.pid}, in run ${attempt}`
}

function tools(): Tool[] {
  return [
    tool('greet', () => `by process ${process.pid}`),
    tool({
      name: 'resize_image',
      description: 'Resizes an image',
      traits: { idempotent: true },
      timeout: 300_000,
      handler: (_args, { attempt }) => slowly({ attempt, toolName: 'resize_image' }),
    }),
    tool({
      name: 'charge_card',
      description: 'Charges a card',
      timeout: 300_000,
      handler: (_args, { attempt }) => slowly({ attempt, toolName: 'charge_card' }),
    }),
  ]
}

/** What all processes share: the records of calls, large results, and what carries ids to the workers. */
function shared(folder: string, url: string): { use: Extension[]; dispatcher: Dispatcher | undefined } {
  return {
    use: [sqliteJournal(join(folder, 'calls.db')), fileStore(join(folder, 'results'))],
    dispatcher: url === '' ? undefined : bullmq({ connection: url }),
  }
}

async function runWorker(): Promise<void> {
  const { use, dispatcher } = shared(directory, redisUrl)
  const executor = createExecutor({ tools: tools(), use })
  const worker = createWorker({ executor, dispatcher, queues: { default: 4 }, staleAfter })
  process.on('disconnect', () => process.exit())
  process.on('SIGTERM', () => {
    void worker
      .close({ drain: 5_000 })
      .then(() => dispatcher?.close?.())
      .then(() => process.exit())
  })
  await worker.ready
  process.send?.('ready')
}

async function runCaller(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-demo-'))
  const redis = await startRedis()
  const url = typeof redis === 'string' ? '' : redis.url
  print(
    url === '' ? 'There is no Redis: the workers take the calls from the journal.' : 'Redis carries the ids of calls.',
  )
  const { use, dispatcher } = shared(folder, url)
  const executor = createExecutor({ tools: tools(), use: [...use, fleet({ dispatcher })] })
  const first = await startWorker(folder, url)
  print(`The caller is process ${process.pid}, the worker is process ${first.pid}.`)

  const greeting = await executor.execute({ name: 'greet' })
  print(`greet: ${greeting.status}, ${textOf(greeting)}.`)

  const begun = new Promise<void>((resolve) => {
    const names = new Set<unknown>()
    first.on('message', (name) => void (names.add(name).size === 2 && resolve()))
  })
  const asked = [executor.execute({ name: 'resize_image' }), executor.execute({ name: 'charge_card' })]
  await begun
  first.kill('SIGKILL')
  await once(first, 'exit')
  print(`resize_image and charge_card run. Process ${first.pid} is killed.`)
  const second = await startWorker(folder, url)
  print(
    `Process ${second.pid} is the worker now. It waits until the first has been silent for ${staleAfter / 1_000} s.`,
  )

  const [resized, charged] = await Promise.all(asked)
  print(`resize_image: ${resized?.status}, ${textOf(resized)}. It is idempotent, so it ran again.`)
  print(`charge_card: ${charged?.error?.code}, effect ${charged?.effect}. It did not run again: it may have charged.`)

  const exited = once(second, 'exit')
  second.kill('SIGTERM')
  await exited
  await executor.close()
  await dispatcher?.close?.()
  if (typeof redis !== 'string') await redis.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function startWorker(folder: string, url: string): Promise<ChildProcess> {
  const worker = fork(import.meta.filename, ['worker', folder, url])
  await once(worker, 'message')
  return worker
}

function textOf(result: { readonly content: readonly unknown[] } | undefined): string {
  return (result?.content as readonly { readonly text?: string }[] | undefined)?.[0]?.text ?? ''
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await (role === 'worker' ? runWorker() : runCaller())
