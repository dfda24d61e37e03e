// Calls the API of each named host, and of a public one that redirects there. Writes what came of it in one line.
import { createExecutor } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { documentOf } from '../portable/cases/_api.ts'

const [publicHost = '', ...hosts] = process.argv.slice(2)

/** Calls an API by the address of its document. Returns the status, the effect and the hosts that were sent to. */
async function outcomeOf(host: string, location?: string): Promise<readonly unknown[]> {
  const sent: string[] = []
  const fetch = async (url: unknown): Promise<Response> => {
    sent.push(new URL(String(url)).hostname)
    return location === undefined || sent.length > 1
      ? Response.json(1)
      : new Response(null, { status: 302, headers: { location } })
  }
  const servers = [{ url: `https://${host}/` }]
  const api = await openapiTools(documentOf({ 'GET /p': { operationId: 'get' } }, { servers }), {
    fetch,
    ...(location !== undefined && { hosts: [] }),
  })
  const { status, effect, content } = await createExecutor({ use: [api] }).execute({ name: 'get', args: {} })
  return [status, effect, sent, JSON.stringify(content).includes('in a private network')]
}

const outcomes: Record<string, unknown> = {}
for (const host of hosts) outcomes[host] = await outcomeOf(host)
outcomes['redirect'] = await outcomeOf(publicHost, `https://${publicHost}/again`)
console.log(JSON.stringify(outcomes))
