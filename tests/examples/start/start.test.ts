import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import type { Facts } from './facts.ts'

const program = join(import.meta.dirname, 'start.ts')

function start(words: readonly string[] = [], variables: Readonly<Record<string, string>> = {}): string {
  // As package.json starts it, and without the right to start another process or to write.
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '-C',
    '@toolwright/source',
    '--permission',
    '--allow-fs-read=*',
  ]
  const { FORCE_COLOR: _force, NO_COLOR: _no, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program, ...words], {
    encoding: 'utf8',
    env: { ...env, ...variables },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

/** Without what differs from one run to the next. */
function steady(screen: string): string {
  return screen
    .replace(/artifact_[0-9a-f]{40}/g, 'artifact_…')
    .replace(/\d+\.\d ms */g, '')
    .replace(/[0-9a-f]{12}(?= +artifact_grep)/, '…') // its args have the handle
}

function factsOf(): Facts {
  return JSON.parse(start(['--json'])) as Facts
}

test('the first story fits on one screen, and is plain where it is no terminal', () => {
  const screen = start()
  expect(screen).not.toContain('\u001b')
  expect(screen.endsWith('\n')).toBe(true)
  const lines = screen.trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(45)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  expect(lines.filter((line) => /^\d {2}/.test(line))).toHaveLength(5)
  expect(lines.at(-1)).toContain('Open next: README.md')
})

test('colour changes no word of it', () => {
  const coloured = start([], { FORCE_COLOR: '1' })
  expect(coloured).toContain('\u001b[')
  expect(steady(stripVTControlCharacters(coloured))).toBe(steady(start()))
})

test('its facts are what the kernel did', () => {
  const { oneCall, badArgs, approval, largeResult, calls } = factsOf()

  const formats = ['anthropic', 'openai', 'openai-responses', 'gemini', 'ai-sdk', 'mcp']
  expect(oneCall.map(({ format }) => format)).toEqual(formats)
  expect(new Set(oneCall.map(({ callId }) => callId)).size).toBe(1)
  expect(oneCall[0]?.callId).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(oneCall.map(({ args }) => JSON.stringify(args))).size).toBeGreaterThan(3)
  expect(oneCall.every(({ status }) => status === 'ok')).toBe(true)

  expect(badArgs).toMatchObject({ code: 'E_INVALID_TOOL_ARGS', handlerRuns: 0 })
  expect(badArgs.reads).toContain('args.amount')
  expect(approval).toMatchObject({ status: 'waiting', runsBefore: 0, final: 'ok', runsAfter: 1 })
  expect(largeResult.bytes).toBeGreaterThan(4_900_000)
  expect(largeResult.shownBytes).toBeLessThan(2_500)
  expect(largeResult.found).toContain('/orders/98765 503')

  expect(calls.map(({ toolName, starts, ends }) => [toolName, starts, ends])).toEqual([
    ['get_forecast', 6, 6],
    ['transfer', 0, 0],
    ['transfer', 1, 1],
    ['read_log', 1, 1],
    ['artifact_grep', 1, 1],
  ])
  expect(calls[0]?.callId).toBe(oneCall[0]?.callId)
})

test('the screen says what the facts say', () => {
  const screen = start()
  const { oneCall, badArgs, approval, calls } = factsOf()
  for (const { format, callId } of oneCall) {
    expect(screen.split('\n').find((line) => line.trim().startsWith(`${format} `))).toContain(callId.slice(0, 12))
  }
  expect(screen.replace(/\s+/g, ' ')).toContain(badArgs.reads)
  expect(screen).toContain(approval.prompt)
  for (const { callId } of calls.slice(0, 4)) expect(screen).toContain(callId.slice(0, 12))
})

test('another option is refused in words', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-C', '@toolwright/source', program, '--yaml'], {
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain('npm start -- --json')
})
