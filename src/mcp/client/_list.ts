import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client'
import { SchemaConversionError } from '../../errors.ts'
import type { Target } from './_options.ts'
import { quotedName } from './_text.ts'
import type { MessageWatch } from './_watch.ts'

/** Accepts any object as a page: `takeIn` checks its tools one by one. */
const pageSchema: StandardSchemaV1<unknown, { readonly nextCursor?: unknown }> = {
  '~standard': {
    version: 1,
    vendor: 'toolwright',
    validate: (value) =>
      typeof value === 'object' && value !== null ? { value } : { issues: [{ message: 'is not an object' }] },
  },
}

/** Lists all tools of a server, unchecked. Stops and reports if the list exceeds the limits. */
export async function listTools(
  client: Client,
  watching: MessageWatch,
  target: Target,
  server: string,
): Promise<unknown[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const { limits, report, connectTimeout } = target
  const signal = AbortSignal.timeout(connectTimeout)
  const listed: unknown[] = []
  const cursors = new Set<string>()
  for (let cursor: unknown; ;) {
    const params = cursor === undefined ? {} : { cursor }
    const { nextCursor } = await client.request({ method: 'tools/list', params }, pageSchema, {
      signal,
      timeout: connectTimeout,
    })
    const tools = watching.takeTools()
    if (!Array.isArray(tools)) throw new TypeError('The list of tools is not an array.')
    listed.push(...tools.slice(0, limits.tools - listed.length))
    if (typeof nextCursor !== 'string') return listed
    const isEndless = cursors.has(nextCursor) || cursors.size + 1 >= limits.pages
    if (isEndless || listed.length >= limits.tools) {
      const reason = isEndless ? 'does not come to an end' : `has more than ${limits.tools} tools`
      report(
        new SchemaConversionError(
          `The list of the MCP server ${quotedName(server)} ${reason}: the first ${listed.length} tools are taken.`,
        ),
      )
      return listed
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
}
