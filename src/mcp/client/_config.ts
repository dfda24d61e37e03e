import { InvalidConfigurationError } from '../../errors.ts'
import { checkOptions, type OptionCheck } from '../../extension.ts'
import { isObject } from '../../formats/_read.ts'
import type { McpServer } from './_options.ts'

/** The options of `normalizeMCPConfig`. */
export interface NormalizeMCPConfigOptions {
  /** The values of `${NAME}` and `${env:NAME}` in commands, URLs, headers and environments, such as `process.env`. Default: none. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /**
   * Fields of servers, by server name, with the field names of the file. They override the file; `env` and `headers` are merged
   * key by key. Default: none.
   */
  readonly overrides?: Readonly<Record<string, object>>
}

const objectOption: OptionCheck = { expected: 'an object', accepts: isObject, isSecret: true }

type Mutable<Value> = { -readonly [Field in keyof Value]: Value[Field] }

/** The names of the transports in the configurations of various programs. */
const transportTypes = new Map<unknown, 'stdio' | 'http' | 'sse' | 'websocket'>([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'sse'],
  ['ws', 'websocket'],
  ['websocket', 'websocket'],
])

/**
 * Reads the servers of a configuration of Claude, Cursor, VS Code, Windsurf or Gemini: the whole file, its `mcpServers` (or
 * `servers`), or an object of servers by name. Servers that are `disabled` are left out. Advance approvals (`alwaysAllow`,
 * `autoApprove`) are ignored: policies decide that.
 *
 * @param config The parsed JSON.
 * @param options `variables` has the values for `${…}`; `overrides` has fields that override the file.
 * @returns The options of `mcpTools` for each server, in the order of the file; spread them to add more.
 * @throws `E_INVALID_CONFIGURATION` if an option or a field is invalid; the message names the server and the field.
 * @example
 * ```ts
 * import { normalizeMCPConfig } from 'toolwright/mcp/client'
 *
 * const [files] = normalizeMCPConfig({ mcpServers: { files: { command: 'npx', args: ['-y', 'server-filesystem', '.'] } } })
 * ```
 * @experimental
 */
export function normalizeMCPConfig(config: unknown, options: NormalizeMCPConfigOptions = {}): McpServer[] {
  checkOptions('normalizeMCPConfig', options, { variables: objectOption, overrides: objectOption })
  if (!isObject(config)) throw new InvalidConfigurationError('A configuration of MCP servers has to be a JSON object.')
  const servers = config['mcpServers'] ?? config['servers'] ?? config
  if (!isObject(servers)) throw new InvalidConfigurationError('`mcpServers` has to be an object of servers by name.')
  const overrides = new Map(Object.entries(options.overrides ?? {}))
  const stranger = [...overrides.keys()].find((name) => !Object.hasOwn(servers, name))
  if (stranger !== undefined) {
    const names = Object.keys(servers).join(', ')
    throw new InvalidConfigurationError(
      `\`overrides\` names a server that the configuration does not have: ${JSON.stringify(stranger)}. It has ${names}.`,
    )
  }
  return Object.entries(servers)
    .map(([name, entry]) => [name, overridden(entry, overrides.get(name))] as const)
    .filter(([, entry]) => !isObject(entry) || entry['disabled'] !== true)
    .map(([name, entry]) => configuredServer(name, entry, options.variables ?? {}))
}

function overridden(entry: unknown, override: unknown): unknown {
  if (!isObject(entry) || !isObject(override)) return override ?? entry
  const merged: Record<string, unknown> = { ...entry, ...override }
  for (const field of ['env', 'headers']) {
    const [former, later] = [entry[field], override[field]]
    if (isObject(former) && isObject(later)) merged[field] = { ...former, ...later }
  }
  return merged
}

function configuredServer(
  name: string,
  entry: unknown,
  variables: Readonly<Record<string, string | undefined>>,
): McpServer {
  const wrong = (message: string): InvalidConfigurationError =>
    new InvalidConfigurationError(`The MCP server ${JSON.stringify(name)} ${message}.`)
  if (!isObject(entry)) throw wrong('is not an object')
  const { command, cwd } = entry
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl']
  const declaredType = entry['type'] ?? entry['transport'] ?? (command === undefined ? 'http' : 'stdio')
  const type = transportTypes.get(declaredType)
  if (type === undefined)
    throw wrong(`has an unknown \`type\`: ${JSON.stringify(declaredType)}; use "stdio", "http" or "sse"`)
  if (type === 'websocket') {
    throw wrong(
      'asks for a websocket, which no version of the protocol has; use its Streamable HTTP address, `type` "http"',
    )
  }
  if ((type === 'stdio') !== (command !== undefined) || (type === 'stdio') === (url !== undefined)) {
    throw wrong(
      `is of type "${type}" and needs ${type === 'stdio' ? 'a `command` and no' : 'no `command` but a'} \`url\``,
    )
  }
  const server: Mutable<McpServer> = { name, type }
  if (type === 'stdio') {
    server.command = text('command', command)
    server.args = list('args', entry['args'])
    server.env = table('env', entry['env'])
    if (cwd !== undefined) server.cwd = text('cwd', cwd)
  } else {
    server.url = text('url', url)
    server.headers = table('headers', entry['headers'])
  }
  return server

  function text(field: string, value: unknown): string {
    if (typeof value !== 'string') throw wrong(`has a \`${field}\` that is not a string`)
    return value.replace(
      /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, variable: string, otherwise?: string) => {
        const variableValue = (Object.hasOwn(variables, variable) ? variables[variable] : undefined) ?? otherwise
        if (variableValue === undefined)
          throw wrong(`uses \${${variable}} in \`${field}\`: give its value in \`variables\``)
        return variableValue
      },
    )
  }

  function list(field: string, value: unknown): string[] {
    if (value === undefined) return []
    if (!Array.isArray(value)) throw wrong(`has \`${field}\` that is not an array`)
    return value.map((each) => text(field, each))
  }

  function table(field: string, value: unknown): Record<string, string> {
    if (value === undefined) return {}
    if (!isObject(value)) throw wrong(`has \`${field}\` that is not an object`)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, text(field, each)]))
  }
}
