import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('the story of every format ends well in one process, and shows each with its calls and its reply', () => {
  const story = fileURLToPath(new URL('every-format.ts', import.meta.url))
  const flags = ['--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
  // Starting another process would end it.
  const alone = ['--permission', '--allow-fs-read=*']
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, ...alone, story], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect([...stdout.matchAll(/^━━ (\S+) ━+$/gm)].map((match) => match[1])).toEqual([
    'anthropic',
    'openai',
    'openai-responses',
    'gemini',
    'ai-sdk',
    'mcp',
  ])
  expect(stdout.match(/^ {3}reply {2}[[{]/gm)).toHaveLength(6)
  expect(stdout.match(/^ {3}asks {3}\w+ \{/gm)).toHaveLength(16)
})
