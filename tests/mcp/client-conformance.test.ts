// The protocol's own suite against our client: every scenario of both frozen sets, those that are run without being
// required included, one process each.
import { describe, expect, test } from 'vitest'
import { missing } from '../servers/installed.ts'
import { revisions, runClient, runServer, scenariosOf } from './_suite.ts'

if (missing !== undefined) console.warn(`The conformance of the client is not tested: ${missing}`)

describe.skipIf(missing !== undefined).concurrent.each(revisions)('a client of %s holds', (revision) => {
  test.each(missing === undefined ? scenariosOf(revision) : ['not installed'])(
    '%s',
    async (scenario) => {
      const { conforms, failures, output } = await runClient(scenario, revision)
      expect(output).toContain('Test Results') // it was run, and not passed over
      expect(conforms, failures.join('\n')).toBe(true)
    },
    120_000,
  )
})

describe.skipIf(missing !== undefined)('what does not hold is told in words:', () => {
  test('of a client, its scenario, the check, what was wrong, and how it ended', async () => {
    const command = 'sh -c "exit 3"'
    const { conforms, failures } = await runClient('tools_call', '2025-11-25', command)
    expect(conforms).toBe(false)
    expect(failures.join('\n')).toMatch(/^tools_call: \S+: \w+ .*\n.*ended with 1, and said last:[^]*code 3/)
  })

  test('of a server, the same, and nothing of what it is not required to do', async () => {
    const { conforms, failures } = await runServer('http://127.0.0.1:9/mcp', '2026-07-28')
    expect(conforms).toBe(false)
    expect(failures).toContainEqual(expect.stringMatching(/^tools-list: tools-list: .*fetch failed/))
    expect(failures.filter((failure) => failure.startsWith('tasks-'))).toEqual([])
  })
})
