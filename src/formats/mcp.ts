/**
 * The server's side of the Model Context Protocol. This leaf only translates: it must not have a transport, keep state, or
 * depend on the executor.
 *
 * @module
 */
import type { ContentBlock, Format, ToolResult } from '../index.ts'
import { definer } from './_definitions.ts'
import { isObject, read, toolCall } from './_read.ts'
import { answers, jsonText, soleJson, wordsOf, wrap, type FormatOptions } from './_render.ts'
import { isEach, requireOwn } from './_shape.ts'

export type { FormatOptions } from './_render.ts'

const invalidParams = -32602

/**
 * Returns a format that translates to and from the Model Context Protocol's `tools/call` requests.
 *
 * Messages: a JSON-RPC request, a batch of them, or the bare `{ method, params }` that a server's handler gets. The answer to
 * a bare request is the bare result. Other requests in a batch, and notifications, are ignored. An unknown tool is a JSON-RPC
 * error, as the protocol requires. Any other failure is a result with `isError`, which the model reads.
 *
 * A result of one JSON object becomes `structuredContent`, and also text, for clients that read only text. `envelope` wraps
 * only text. `providerOptions.mcp` is merged into the definition (`icons`, `execution`, …). Its `annotations` and `_meta` are
 * merged field by field.
 *
 * @param options `pending`, `envelope` and `report`.
 * @example
 * ```ts
 * import { mcp } from 'toolwright/formats/mcp'
 *
 * const format = mcp()
 * const calls = format.calls({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'now', arguments: {} } })
 * ```
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
export function mcp(options: FormatOptions = {}): Format {
  return {
    name: 'mcp',

    detect(message) {
      return requestsOf(message).some((request) => read(request, 'method') === 'tools/call')
    },

    definitions: definer(
      {
        optionsOf: (tool) => tool.providerOptions['mcp'],
        take(given, isHosted) {
          if (!isHosted || (typeof given['name'] === 'string' && isObject(given['inputSchema'])))
            return { options: given }
          return { fault: 'the definition of a tool has a `name` and an `inputSchema`' }
        },
        define({ name, title, description, inputSchema, outputSchema, ui }, given, { tool: { traits } }) {
          const meta = { ...(ui === undefined ? undefined : { ui }), ...fields(given['_meta']) }
          return {
            name,
            ...(title === undefined ? undefined : { title }),
            description,
            inputSchema,
            ...(outputSchema === undefined ? undefined : { outputSchema }),
            ...given,
            annotations: {
              readOnlyHint: traits.readonly,
              idempotentHint: traits.idempotent,
              // The protocol's default for these two is true, so a trait that is not set must not become `false`.
              ...(traits.destructive ? { destructiveHint: true } : undefined),
              ...(traits.openWorld ? { openWorldHint: true } : undefined),
              ...fields(given['annotations']),
            },
            ...(Object.keys(meta).length === 0 ? undefined : { _meta: meta }),
          }
        },
      },
      options,
    ).definitions,

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

    results(results, message) {
      const given = answers(results, options).map(({ result }) => result)
      const isBare = isObject(message) && read(message, 'jsonrpc') === undefined
      const replies = given.map((result) => (isBare ? toolResult(result) : response(result)))
      return Array.isArray(message) || replies.length !== 1 ? replies : replies[0]
    },
  }

  function response(result: ToolResult): object {
    const head = { jsonrpc: '2.0', id: result.id ?? null }
    if (result.error?.code !== 'E_TOOL_NOT_FOUND') return { ...head, result: toolResult(result) }
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
        return { ...block, resource: { ...resource, text: wrap(resource.text, result, options) } }
      }
      case 'text':
        return { ...block, text: wrap(block.text, result, options) }
      case 'json':
        return { type: 'text', text: wrap(jsonText(block), result, options) }
      default:
        return { type: 'text', text: wrap(wordsOf(block), result, options) }
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

function fields(value: unknown): object | undefined {
  return isObject(value) ? value : undefined
}
