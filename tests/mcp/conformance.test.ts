import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Listening } from 'toolwright/mcp/server'
import { missing } from '../servers/installed.ts'
import { startConformanceServer } from './_conformance-server.ts'
import { revisions, runServer } from './_suite.ts'

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
      const { conforms, failures } = await runServer(server.url, revision)
      expect(conforms, failures.join('\n')).toBe(true)
    },
    180_000,
  )
})
