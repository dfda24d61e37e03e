import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { connect } from 'toolwright/client/browser'
import type { ToolClient } from 'toolwright/client/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { read, seenIn, send } from './_http-api.ts'

const waitFor = { timeout: 30_000, interval: 50 }

interface Server {
  readonly url: string
  readonly process: ChildProcess
  readonly kill: () => Promise<void>
}

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-processes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a process with an HTTP API. */
async function start(folder: string, port = 0): Promise<Server> {
  const file = join(import.meta.dirname, '_process.ts')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '-C', '@toolwright/source', file, folder, String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = (): Promise<void> => (child.kill('SIGKILL'), ended)
  onTestFinished(kill)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()))
    child.once('exit', (code) => reject(new Error(`The process ended with ${code}.`)))
  })
  return { url, process: child, kill }
}

async function ask({ url }: Server, name: string): Promise<string> {
  return ((await (await fetch(`${url}/ask/${name}`)).json()) as { invocationId: string }).invocationId
}

/** Waits until a client knows a call in some way. */
async function knows(
  client: ToolClient,
  id: string,
  isIt: (call: ReturnType<ToolClient['calls']>[number]) => boolean,
): Promise<void> {
  await expect.poll(() => client.calls().some((call) => call.invocationId === id && isIt(call)), waitFor).toBe(true)
}

test('of twenty answers to two processes at once the handler runs once', async () => {
  const folder = folderOf()
  const servers = await Promise.all([start(folder), start(folder)])
  const streams = await Promise.all(servers.map(({ url }) => read(url)))
  for (let round = 1; round <= 3; round++) {
    const id = await ask(servers[0], 'deploy')
    for (const stream of streams)
      await expect.poll(() => seenIn(stream).get(id)?.waiting ?? stream.text().includes(id), waitFor).toBeTruthy()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(`${servers[index % 2]!.url}/calls/${id}/decision`, {
          body: { decision: 'allow' },
          headers: { prefer: 'wait=20' },
        }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 202 && status !== 409)).toEqual([])
    expect(answers.filter(({ status, data }) => status < 300 && !data.repeated)).toHaveLength(1)
    expect(readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n')).toHaveLength(round)
  }
})

test('a page loses nothing when its server is killed and another takes its place', async () => {
  const folder = folderOf()
  const first = await start(folder)
  const client = connect(first.url)
  onTestFinished(() => client.close())
  const [approval, question] = [await ask(first, 'deploy'), await ask(first, 'look')]
  for (const id of [approval, question]) await knows(client, id, ({ waiting }) => waiting !== undefined)
  await first.kill()
  await expect.poll(() => client.state, waitFor).toBe('connecting')
  await start(folder, Number(new URL(first.url).port))
  await expect.poll(() => client.state, waitFor).toBe('open')
  client.tool('look', () => 'seen after the crash')
  const answer = await client.decide(approval, 'allow', { wait: 30 })
  expect([answer.repeated, answer.result?.status]).toEqual([false, 'ok'])
  await knows(client, question, ({ content }) => JSON.stringify(content)?.includes('seen after the crash') === true)
  expect(readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n')).toHaveLength(1)
})
