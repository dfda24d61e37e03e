/**
 * The server's side of the Model Context Protocol. This format only translates: it must not have a transport, keep state, or
 * depend on the executor.
 *
 * @module
 */
import type { ContentBlock, Format, ToolResult } from '../index.ts'
import type { TurnBudget } from '../extension.ts'
import { requireOptions } from './_options.ts'
import { definer } from './_definitions.ts'
import { withExamples } from './_examples.ts'
import { isObject, read, toolCall } from './_read.ts'
import { blockJson, enveloped, requireResults, soleJson, wordsOf, type FormatOptions } from './_render.ts'
import { isEach, requireOwn } from './_shape.ts'
import { shortened } from './_turn-budget.ts'
import type { ObjectSchema } from './_types.ts'

export type { FormatOptions } from './_render.ts'
export type { ObjectSchema } from './_types.ts'

const invalidParams = -32602

/** A tool in the answer to `tools/list`. */
export interface McpTool {
  name: string
  title?: string
  description: string
  inputSchema: ObjectSchema
  outputSchema?: ObjectSchema
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean }
  _meta?: { [name: string]: unknown }
}

/** A request as a server's handler gets it, a JSON-RPC message, or a batch of them. */
export type McpMessage = McpRequest | McpRpc | readonly object[]

/** A request, as the handler of a server gets it. */
export interface McpRequest {
  readonly method: string
  readonly params?: object | undefined
  readonly jsonrpc?: never
}

/** A message of JSON-RPC. */
export interface McpRpc {
  readonly jsonrpc: string
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: object | undefined
}

type McpBlock =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType?: string } & ({ text: string } | { blob: string }) }
  | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string }

/** The result of `tools/call`. */
export type McpToolResult = { content: McpBlock[]; structuredContent?: { [name: string]: unknown }; isError?: boolean }

/** The format of `tools/call` requests of the Model Context Protocol. */
export interface McpFormat extends Format<McpTool, McpMessage> {
  results(results: readonly ToolResult[], message: McpRequest, budget?: TurnBudget): McpToolResult
  results(results: readonly ToolResult[], message?: McpMessage, budget?: TurnBudget): unknown
}

/**
 * Returns a format that translates to and from the Model Context Protocol's `tools/call` requests.
 *
 * Messages: a JSON-RPC request, a batch of them, or the bare `{ method, params }` that a server's handler gets. The answer to
 * a bare request is the bare result. Other requests in a batch, and notifications, are ignored. An unknown tool is a JSON-RPC
 * error, as the protocol requires. Any other failure is a result with `isError`, which the model reads.
 *
 * A result of one JSON object becomes `structuredContent`, and also text, for clients that read only text. `envelope` wraps
 * only text. Examples of args stand at the end of the description. `providerOptions.mcp` is merged into the definition (`icons`, `execution`, …). Its `annotations` and `_meta` are
 * merged field by field.
 *
 * @param options `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { mcp } from 'toolwright/formats/mcp'
 *
 * const format = mcp()
 * const calls = format.calls({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'now', arguments: {} } })
 * ```
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
export function mcp(options: FormatOptions = {}): McpFormat {
  requireOptions('mcp', options)
  return {
    name: 'mcp',

    detect(message) {
      return requestsOf(message).some((request) => read(request, 'method') === 'tools/call')
    },

    definitions: definer<McpTool>(
      {
        optionsOf: (tool) => tool.providerOptions['mcp'],
        accept(providerOptions, isHosted) {
          if (!isHosted || (typeof providerOptions['name'] === 'string' && isObject(providerOptions['inputSchema'])))
            return { options: providerOptions }
          return { fault: 'the definition of a tool has a `name` and an `inputSchema`' }
        },
        define(
          { name, title, description, inputSchema, outputSchema, ui },
          providerOptions,
          { tool: { traits }, examples },
        ) {
          const meta = { ...(ui === undefined ? undefined : { ui }), ...objectFields(providerOptions['_meta']) }
          return {
            name,
            ...(title === undefined ? undefined : { title }),
            description: Object.hasOwn(providerOptions, 'inputSchema')
              ? description
              : withExamples(description, examples),
            inputSchema,
            ...(outputSchema === undefined ? undefined : { outputSchema }),
            ...providerOptions,
            annotations: {
              readOnlyHint: traits.readonly,
              idempotentHint: traits.idempotent,
              // The protocol's default for these two is true, so a trait that is not set must not become `false`.
              ...(traits.destructive ? { destructiveHint: true } : undefined),
              ...(traits.openWorld ? { openWorldHint: true } : undefined),
              ...objectFields(providerOptions['annotations']),
            },
            ...(Object.keys(meta).length === 0 ? undefined : { _meta: meta }),
          }
        },
      },
      options,
    ),

    calls(message) {
      const isOwn = isEach(
        message,
        (item) => typeof read(item, 'method') === 'string' || read(item, 'jsonrpc') === '2.0',
      )
      if (!isOwn) requireOwn(message, 'mcp', false, 'a request, or a batch of requests')
      return requestsOf(message)
        .filter((request) => read(request, 'method') === 'tools/call' && !isNotification(request))
        .map((request) =>
          toolCall(read(request, 'id'), read(request, 'params', 'name'), read(request, 'params', 'arguments')),
        )
    },

    results: ((results, message, budget) => {
      requireResults(results)
      const replyResults = options.waiting === 'omit' ? results.filter(({ status }) => status !== 'waiting') : results
      const fitting = shortened(replyResults, budget)
      const isBare = isObject(message) && read(message, 'jsonrpc') === undefined
      const replies = fitting.map((result) => (isBare ? toolResult(result) : response(result)))
      return Array.isArray(message) || replies.length !== 1 ? replies : replies[0]
    }) as McpFormat['results'],
  }

  function response(result: ToolResult): object {
    const head = { jsonrpc: '2.0', id: result.id ?? null }
    // A bridge that named a tool is a tool that the client sees: its model reads the error.
    if (result.error?.code !== 'E_TOOL_NOT_FOUND' || result.via !== undefined)
      return { ...head, result: toolResult(result) }
    return { ...head, error: { code: invalidParams, message: result.content.map(wordsOf).join('\n') } }
  }

  function toolResult(result: ToolResult): object {
    const sole = soleJson(result, {})
    return {
      content: result.content.map((block) => blockOf(block, result)),
      ...(isObject(sole?.data) && !result.isError ? { structuredContent: sole.data } : undefined),
      ...(result.isError ? { isError: true } : undefined),
    }
  }

  function blockOf(block: ContentBlock, result: ToolResult): object {
    switch (block.type) {
      case 'image':
      case 'audio':
      case 'resource_link':
        return block
      case 'resource': {
        const { resource } = block
        if (resource.text === undefined) return block
        return { ...block, resource: { ...resource, text: enveloped(resource.text, result, options) } }
      }
      case 'text':
        return { ...block, text: enveloped(block.text, result, options) }
      case 'json':
        return { type: 'text', text: enveloped(blockJson(block), result, options) }
      default:
        return { type: 'text', text: enveloped(wordsOf(block), result, options) }
    }
  }
}

function requestsOf(message: unknown): readonly unknown[] {
  return Array.isArray(message) ? message : [message]
}

/** Returns whether a JSON-RPC message has no id. Such a message gets no answer. */
function isNotification(request: unknown): boolean {
  return read(request, 'jsonrpc') !== undefined && read(request, 'id') === undefined
}

function objectFields(value: unknown): object | undefined {
  return isObject(value) ? value : undefined
}
