import { randomUUID } from 'node:crypto'
import { openSync, closeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeSandbox } from 'toolwright/conformance/sandboxes'
import { longestTurn } from '../_processor-time.ts'
import { end, withMark } from './_marks.ts'
import { canary, local, temporary, workspace } from './_workspace.ts'
import { localSandbox } from 'toolwright/builtins/local'

describeSandbox('localSandbox', () => local(workspace().root))
describeSandbox('localSandbox with real paths', () => local(workspace().root, { paths: 'real-path' }))

test('localSandbox says once that commands are not isolated', async () => {
  const messages: string[] = []
  const sandbox = await localSandbox({ root: temporary(), report: (message) => void messages.push(message) })
  await sandbox.exec('true')
  expect(messages).toEqual([expect.stringContaining('without isolation')])
  expect(sandbox.isolation).toBe('none')
  await sandbox.close()
})

test.each([
  [{}],
  [{ root: '/nowhere/at/all' }],
  [{ root: '/' }],
  [{ root: '/etc/passwd' }],
  [{ root: '.', sandboxed: true }],
  [null],
])('localSandbox refuses the options %j', async (options) => {
  await expect(localSandbox(options as never)).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
})

test('a command has no secret of the host in its environment, and no descriptor of it', async () => {
  process.env['TOOLWRIGHT_CANARY'] = canary
  const descriptor = openSync('/etc/hostname', 'r')
  try {
    const { stdout } = await (await local(workspace().root)).exec('env; ls /proc/self/fd | tr "\\n" " "')
    expect(stdout.text).not.toContain(canary)
    expect(stdout.text).toMatch(/\n0 1 2 3 $/) // 3 is the directory that ls reads
  } finally {
    closeSync(descriptor)
    delete process.env['TOOLWRIGHT_CANARY']
  }
})

test('100 children end with their shell', async () => {
  const mark = `mark-${randomUUID()}`
  const script = `for i in $(seq 100); do bash -c 'sleep 300; : ${mark}' & done; sleep 0.3`
  await (await local(workspace().root)).exec(script)
  await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
})

test('a line of 20 MB and an endless flood are bounded, and keep nothing else waiting', async () => {
  const sandbox = await local(workspace().root)
  const flooded = async (): Promise<void> => {
    const line = await sandbox.exec('head -c 20000000 /dev/zero | tr "\\0" y')
    expect(line.stdout.totalBytes).toBe(20_000_000)
    expect(line.stdout.text.length).toBeLessThan(33_000)
    const flood = await sandbox.exec('yes', { timeout: 1_500 })
    expect(flood).toMatchObject({ timedOut: true })
    expect(flood.stdout.totalBytes).toBeGreaterThan(1_000_000)
  }
  const longest = await longestTurn(flooded())
  console.log(`a turn of the event loop took ${longest.toFixed(0)} ms of the processor at most`)
  expect(longest).toBeLessThan(1_000)
})

test('a time limit longer than a timer can wait does not end a command at once', async () => {
  const sandbox = await local(workspace().root)
  const result = await sandbox.exec('sleep 0.2; echo done', { timeout: 2 ** 40 })
  expect(result).toMatchObject({ timedOut: false, exitCode: 0 })
})

// What nothing can hold without a namespace: these document it. Use bubblewrap.
test('without isolation, a command that leaves its group lives on', async () => {
  const mark = `mark-${randomUUID()}`
  const { exitCode } = await (
    await local(workspace().root)
  ).exec(`setsid bash -c 'exec -a ${mark} sleep 300' > /dev/null 2>&1 & sleep 0.3`)
  const survivors = withMark(mark)
  end(survivors)
  expect(exitCode).toBe(0)
  expect(survivors.length).toBeGreaterThan(0)
})

test('without isolation, a command reads the environment of the host', async () => {
  const { stdout } = await (await local(workspace().root)).exec(`tr '\\0' '\\n' < /proc/$PPID/environ | grep -c ^PATH=`)
  expect(stdout.text).toBe('1\n')
})

test('without isolation, a command writes outside the root', async () => {
  const { root, outside } = workspace()
  const { stdout } = await (
    await local(root)
  ).exec(`cat ${outside}/secret.txt && (touch ${outside}/made && ls ${outside})`)
  expect(stdout.text).toContain(canary)
})
