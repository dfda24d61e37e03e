// A tool returns a log of 200 MB. The model reads a beginning of it, and asks until it has found the one request that failed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Story {
  readonly answers: readonly { readonly asked: string; readonly answer: string }[]
  /** Bytes of memory that the process took more than at its start, at most. */
  readonly grown: number
}

const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
let story: Story

beforeAll(() => {
  const file = join(import.meta.dirname, 'large-log.ts')
  // A heap in which the log has no room.
  const flags = ['--max-old-space-size=48', '--max-semi-space-size=2', '--disable-warning=ExperimentalWarning']
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '-C', '@toolwright/source', file, directory],
    { encoding: 'utf8' },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  story = JSON.parse(stdout) as Story
}, 120_000)

afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('the model finds the request that failed, and why', () => {
  const { asked, answer } = story.answers.at(-1) ?? expect.fail('nothing was asked')
  expect(asked).toContain('artifact_cat')
  expect(answer.split('\n')).toEqual([
    expect.stringMatching(/ GET \/orders\/1234566 status=200 /),
    expect.stringMatching(/ POST \/orders\/1234567 status=503 .* user=ada$/),
    '    Error: connect ECONNREFUSED 10.0.0.7:5432',
    '        at Pool.connect (/srv/orders/pool.js:41:11)',
    expect.stringMatching(/ GET \/orders\/1234568 status=200 /),
  ])
})

test('the preview says how large the log is, and names the tools with which the model went on', () => {
  const [preview, ...others] = story.answers
  expect(preview?.answer).toMatch(/This is the beginning of 206,\d{3},\d{3} bytes of text\/plain\./)
  for (const { asked } of others) expect(preview?.answer).toContain(asked.slice(0, asked.indexOf(' ')))
})

test('no answer has more than 4 kB, and one that is cut says so', () => {
  for (const { asked, answer } of story.answers) {
    expect(new TextEncoder().encode(answer).byteLength, asked).toBeLessThanOrEqual(4_096)
  }
  expect(story.answers[2]?.answer).toMatch(
    /Truncated: \d+ matches are shown, and there may be more\. Go on with start: \d+\.\)$/,
  )
})

test('the log is never held in memory', () => {
  expect(story.grown).toBeLessThan(128_000_000)
})
