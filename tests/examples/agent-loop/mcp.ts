import { Server } from '@modelcontextprotocol/server'
import type { ToolExecutor } from 'toolwright'
import { mcp } from 'toolwright/formats/mcp'

const format = mcp()

/** Returns a server that lists the tools of an executor, and answers the calls of its client. */
export function serve(executor: ToolExecutor): Server {
  const server = new Server({ name: 'weather', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: format.definitions(executor.tools()) }))
  server.setRequestHandler('tools/call', async (request) => {
    return format.results(await executor.executeToolCalls(format.calls(request)), request)
  })
  return server
}
