import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const story = fileURLToPath(new URL('fleet.ts', import.meta.url))

describe.concurrent('the story of a fleet', () => {
  test.each([
    ['the Redis that is here, if one is', process.env],
    ['the journal alone', { ...process.env, PATH: '', REDIS_URL: '' }],
  ])(
    'loses no call with %s when a worker is killed, and repeats only what may be repeated',
    async (_, env) => {
      const flags = ['--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, story], { env })
      expect(stderr).toBe('')
      const [carrier, , greeting, , , resized, charged] = stdout.split('\n')
      if (env['PATH'] === '') expect(carrier).toBe('There is no Redis: the workers take the calls from the journal.')
      expect(greeting).toMatch(/^greet: ok, by process \d+\.$/)
      expect(resized).toMatch(/^resize_image: ok, by process \d+, in run 2\./)
      expect(charged).toMatch(/^charge_card: E_SEALED, effect unknown\./)
    },
    120_000,
  )
})
