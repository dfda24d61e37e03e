// What loading the package does beside loading it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { integerFrom, numberFrom } from 'toolwright/extension'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

test('no part formats a number while it loads: the first number loads the words of all languages', async () => {
  const program = `
    const format = Number.prototype.toLocaleString
    const formatted = []
    Number.prototype.toLocaleString = function (...options) {
      formatted.push(new Error().stack.split('\\n')[2].trim())
      return format.apply(this, options)
    }
    const leaves = ['extension', 'middleware/retry', 'middleware/cache', 'policies/budget', 'policies/rate-limit', 'gates/once',
      'stores/file', 'journals/sqlite', 'discovery/search', 'distributed/fleet', 'client/http', 'imports/openapi',
      'mcp/server', 'mcp/client', 'builtins/tools', 'artifacts/tools']
    for (const leaf of leaves) await import('toolwright/' + leaf)
    console.log(JSON.stringify([leaves.length, formatted]))
  `
  const words = [
    '--disable-warning=ExperimentalWarning',
    '-C',
    '@toolwright/source',
    '--input-type=module',
    '-e',
    program,
  ]
  const { stdout } = await run(process.execPath, words, { cwd: root })
  expect(JSON.parse(stdout)).toEqual([16, []])
}, 30_000)

test('numbers in the errors of options have commas', () => {
  const numbers = [0, 999, 1_000, 65_535, 1_234_567, 0.25, 0.12345, -1_000]
  const texts = ['0', '999', '1,000', '65,535', '1,234,567', '0.25', '0.12345', '-1,000']
  expect(numbers.map((number) => numberFrom(number).expected)).toEqual(
    texts.map((text) => `a number of at least ${text}`),
  )
  expect(integerFrom(1, 2 ** 31 - 1).expected).toBe('a whole number of at least 1, and at most 2,147,483,647')
})
