import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Listening } from 'toolwright/mcp/server'
import { missing } from '../servers/installed.ts'
import { startConformanceServer } from './_conformance-server.ts'
import { revisions, runSuite } from './_suite.ts'

if (missing !== undefined) console.warn(`The conformance of the server is not tested: ${missing}`)

describe.skipIf(missing !== undefined)("a server, by the protocol's own suite,", () => {
  let server: Listening

  beforeAll(async () => {
    server = await startConformanceServer()
  })
  afterAll(() => server.close())

  test.each(revisions)(
    'holds what %s requires, and fails only where it says so',
    async (revision) => {
      const { code, output, failures } = await runSuite('server', server.url, revision)
      expect(code, [...failures, output.slice(output.indexOf('=== SUMMARY'))].join('\n')).toBe(0)
    },
    180_000,
  )
})
