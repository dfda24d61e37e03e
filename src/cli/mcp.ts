import { Writable } from 'node:stream'
import process from 'node:process'
import type { McpToolServer } from '../mcp/server.ts'
import type { ToolExecutor } from '../index.ts'
import { unlessTaken, UsageError, type Command, type CommandLine } from './arguments.ts'
import { packageVersion, versionOfFile } from './files.ts'
import { untilInterrupted, note, printText, thrownMessage, type Host } from './host.ts'
import { openApiHelp, openApiOptions, openDocument, type OpenedDocument } from './openapi.ts'
import { openWorkspace, workspaceOptions } from './workspace.ts'
import { openExecutor, executionHelp, servingOptions } from './execution.ts'

const mcpTokenVariable = 'TOOLWRIGHT_MCP_TOKEN'
/** How long calls may go on after the end of stdin, in milliseconds. A client that waits no longer sends SIGTERM, which ends them. */
const endTimeout = 5_000

/** `toolwright mcp`: serves the tools of a module to clients of the Model Context Protocol. */
export const mcpCommand: Command = {
  name: 'mcp',
  help: `\
Usage: toolwright mcp [<module>] [--openapi FILE] [--workspace DIR] [--task MODULE]
                      [options]

Serves the tools that models may call over the Model Context Protocol: on stdin and
stdout, to the client that started this process, or with --http to any client on this
machine. A call that needs approval asks the client's user. After the end of stdin, calls
go on for 5 seconds at most, and are answered.

  --http PORT       listen on 127.0.0.1; 0: any port that is free. Prints the address.
                    If ${mcpTokenVariable} is set, clients must send it as
                    their bearer token.
  --name NAME       the name of the server (default toolwright). Its version is that of the
                    package that has the module, or of the OpenAPI document
${openApiHelp}
  --workspace DIR   serve the built-in tools too: files, commands and lists in DIR
  --sandbox NAME    how commands run: local (default; the client's user approves each) or
                    bubblewrap (isolated, without network)
  --user UID:GID    who runs the commands in bubblewrap, if this process is root
  --task MODULE     serve task_run too: the module's default export is a function that
                    does the task, such as an agent of yours. With --workspace all
                    twelve built-in tools are served then
${executionHelp.replace(/^ {2}--fail-on-error.*\n/m, '')}`,
  options: {
    ...servingOptions,
    http: { type: 'string' },
    name: { type: 'string' },
    ...openApiOptions,
    ...workspaceOptions,
  },
  takes: [0, 1],

  async perform(options, host) {
    const [path] = options.positionals
    const port = portOf(options)
    let document: OpenedDocument | undefined
    const { executor } = await openExecutor(path, options, host, false, async () => {
      document = await openDocument(options, host)
      const workspace = await openWorkspace(options, host)
      const found = [...(document === undefined ? [] : [document]), ...(workspace ?? [])]
      if (workspace !== undefined || document !== undefined || path !== undefined) return found
      throw new UsageError('A module, --openapi, --workspace or --task is missing: there is nothing to serve.')
    })
    try {
      const server = await mcpServerOf(executor, options, host, document)
      await (port === undefined ? serveStdio(server, host) : serveHttp(server, port, host))
      return 0
    } finally {
      await executor.close()
    }
  },
}

function portOf(options: CommandLine): number | undefined {
  const port = options.count('http', 0)
  if (port !== undefined && port > 65_535) throw new UsageError(`--http takes a port of at most 65535, got "${port}".`)
  return port
}

/** Makes the server. A module's package says its version, else the document, else this package if only its own tools are served. */
async function mcpServerOf(
  executor: ToolExecutor,
  options: CommandLine,
  host: Host,
  document: OpenedDocument | undefined,
): Promise<McpToolServer> {
  const [name, [path]] = [options.text('name'), options.positionals]
  const ownVersion = options.text('workspace') === undefined ? undefined : packageVersion()
  const [title, version] =
    path === undefined ? [document?.title, document?.apiVersion ?? ownVersion] : [undefined, versionOfFile(path)]
  const { mcpServer } = await import('../mcp/server.ts').catch((error: unknown) => {
    const isMissing = (error as { readonly code?: unknown } | null)?.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw error
    throw new UsageError(`Serving needs a package that is not installed: npm install @modelcontextprotocol/server`)
  })
  return mcpServer({
    executor,
    report: (error) => note(host, thrownMessage(error)),
    ...(name === undefined ? undefined : { name }),
    ...(version === undefined ? undefined : { version }),
    ...(title === undefined ? undefined : { title }),
  })
}

async function serveStdio(server: McpToolServer, host: Host): Promise<void> {
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      host.stdout.write(chunk.toString('utf8'), done)
    },
  })
  const { closed, close } = await server.stdio({ stdin: host.stdin, stdout, endTimeout })
  await Promise.race([closed, untilInterrupted(host)])
  await close()
}

async function serveHttp(server: McpToolServer, port: number, host: Host): Promise<void> {
  const token = process.env[mcpTokenVariable]
  const listening = server.listen({ port, ...(token === undefined ? undefined : { token }) })
  const { url, close } = await listening.catch((error: unknown) => {
    throw unlessTaken(error, port, 'http')
  })
  try {
    await printText(host.stdout, `${url}\n`)
    await untilInterrupted(host)
  } finally {
    await close()
  }
}
