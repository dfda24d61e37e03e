import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Implementation,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { areSameItems } from '../_lists.ts'
import { onListChange } from './_list-changes.ts'
import { callTool, capabilitiesOf } from './_call.ts'
import { onceCapability } from './_once.ts'
import { pageOf } from './_pages.ts'
import { readResource, resourcesFor, templatesFor } from './_resources.ts'
import type { Peer, ServerSettings } from './_settings.ts'
import { isUiHost, shownTool, toolsFor } from './_tools.ts'

/** The SDK's server of one client. The tools are not registered with it: only the executor knows and runs them. */
class Served extends McpServer {
  readonly #peer: Peer
  readonly #settings: ServerSettings

  constructor(info: Implementation, peer: Peer, settings: ServerSettings) {
    const { instructions } = settings
    super(info, {
      capabilities: { logging: {} },
      ...(instructions === undefined ? undefined : { instructions }),
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
      inputRequired: { roundTimeoutMs: settings.answerTimeout },
    })
    this.#peer = peer
    this.#settings = settings
  }

  /** Called by the transport to check the headers that, by the schema, repeat arguments. */
  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return shownTool(name, this.#peer.session, true, this.#settings)?.inputSchema
  }
}

/** Makes the server of one client. */
export function serve(peer: Peer, settings: ServerSettings): McpServer {
  const { name, version, title, pageSize } = settings
  const served = new Served({ name, version, ...(title === undefined ? undefined : { title }) }, peer, settings)
  const { server } = served
  const safely = <Request, Context, Result>(
    answer: (request: Request, context: Context) => Result | Promise<Result>,
  ) => {
    return async (request: Request, context: Context): Promise<Result> => {
      try {
        return await answer(request, context)
      } catch (error) {
        if (error instanceof ProtocolError) throw error
        settings.report(error) // the client learns only of its own faults
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error')
      }
    }
  }
  server.registerCapabilities({
    tools: { listChanged: true },
    resources: {},
    ...onceCapability(peer, settings.executor),
  })
  const toolsNow = (context: ServerContext): readonly Tool[] => {
    return toolsFor(peer.session, isUiHost(capabilitiesOf(context, served)), settings)
  }
  let lastListed: readonly Tool[] | undefined // the list that the client saw last
  server.setRequestHandler(
    'tools/list',
    safely(({ params }, context: ServerContext) => {
      lastListed = toolsNow(context)
      const { items, ...rest } = pageOf(lastListed, params?.cursor, pageSize, (tool) => tool.name)
      return { tools: items, ...rest }
    }),
  )
  server.setRequestHandler(
    'tools/call',
    safely(async (request, context) => {
      const result = await callTool(request, context, peer, served, settings)
      const before = lastListed
      // An extension may change a session's tools after each of its calls, such as tools for its artifacts.
      if (before !== undefined) {
        lastListed = toolsNow(context)
        if (!areSameItems(before, lastListed)) tellOfTools(served)
      }
      return result
    }),
  )
  server.setRequestHandler(
    'resources/list',
    safely(({ params }) => {
      const { items, ...rest } = pageOf(resourcesFor(peer, settings), params?.cursor, pageSize, ({ uri }) => uri)
      return { resources: items, ...rest }
    }),
  )
  server.setRequestHandler(
    'resources/templates/list',
    safely(() => ({ resourceTemplates: templatesFor(settings) })),
  )
  server.setRequestHandler(
    'resources/read',
    safely(({ params }) => readResource(params.uri, peer, settings)),
  )
  try {
    settings.extend?.(served)
  } catch (error) {
    settings.report(error) // without connections, nothing else reports it
    throw error
  }
  return served
}

function tellOfTools({ server }: McpServer): void {
  server.sendToolListChanged().catch(() => {}) // the client is not connected
}

/** Notifies a client of tool changes until it disconnects. Then drops its unanswered questions and calls `gone`. */
export function connectServer(
  served: McpServer,
  peer: Peer,
  settings: ServerSettings,
  gone: () => void = () => {},
): McpServer {
  const silence = onListChange(() => tellOfTools(served), settings, peer.session)
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  served.server.onclose = () => {
    silence()
    settings.openQuestions.end(peer.owner)
    gone()
  }
  return served
}
