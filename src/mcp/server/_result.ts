import { ProtocolError, ProtocolErrorCode, type CallToolResult, type McpServer } from '@modelcontextprotocol/server'
import { mcp } from '../../formats/mcp.ts'
import type { SpooledArtifact, ToolError, ToolResult } from '../../index.ts'
import { uriOf } from './_resources.ts'
import type { Peer, ServerSettings } from './_settings.ts'
import { shownTool } from './_tools.ts'

const resultFormat = mcp()
const bareCall = { method: 'tools/call' }

type OutputSchema = Readonly<Record<string, unknown>>

/** Converts a result for the client. Only an unknown tool is a protocol error. */
export async function protocolResult(
  result: ToolResult,
  peer: Peer,
  server: McpServer,
  settings: ServerSettings,
): Promise<CallToolResult> {
  // If a bridge named the tool, the called tool is the bridge, which the client sees: its model reads the error.
  if (result.error?.code === 'E_TOOL_NOT_FOUND' && result.via === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, result.error.message)
  const reply = resultFormat.results([result], bareCall) as CallToolResult
  const { artifact, handle } = result
  const link = handle === undefined || artifact === undefined ? [] : [linkTo(artifact, handle, result)]
  const content = [...reply.content, ...link]
  if (handle !== undefined) settings.granted.remember(handle, peer)
  if (result.status !== 'ok') return { content: [...content, ...unaskedWords(result, settings)], isError: true }
  const schema = shownTool(result.toolName, peer.session, true, settings)?.outputSchema
  if (schema === undefined || artifact === undefined) return { ...reply, content }
  if (artifact.byteLength() > settings.structuredLimit) return tooLargeResult(content, artifact)
  return server.server.projectCallToolResult(
    { content, structuredContent: await checkedValue(artifact, schema) },
    schema,
  )
}

/** Makes the result of a call that could not be completed. */
export function failedResult({ name, message }: ToolError): CallToolResult {
  return { content: [{ type: 'text', text: `${name}: ${message}` }], isError: true }
}

function linkTo(
  artifact: SpooledArtifact,
  handle: string,
  { toolName }: ToolResult,
): CallToolResult['content'][number] {
  return {
    type: 'resource_link',
    uri: uriOf(handle),
    name: handle,
    description: `The whole result of ${toolName}`,
    mimeType: artifact.mediaType,
    size: artifact.byteLength(),
  }
}

/** Says of a call that waits for a person why the client's user was not asked, and who can answer. */
function unaskedWords({ status, effect }: ToolResult, { approvals }: ServerSettings): CallToolResult['content'] {
  if (status !== 'waiting' || effect !== 'none' || approvals !== 'client') return []
  const reason =
    'The user of this client was not asked: it does not declare `elicitation`, or the question is too long.'
  return [{ type: 'text', text: `${reason} Only the application that serves the tool can allow the call.` }]
}

/** Makes an error result: by the protocol, a tool with an output schema has to send its whole result or fail. */
function tooLargeResult(content: CallToolResult['content'], artifact: SpooledArtifact): CallToolResult {
  const size = artifact.byteLength().toLocaleString('en')
  const text = `The tool has run to its end; do not call it again. Its result of ${size} bytes is too large to be sent in one piece: read it in parts.`
  return { content: [{ type: 'text', text }, ...content], isError: true }
}

/** Reads the value that was checked against the output schema. */
async function checkedValue(artifact: SpooledArtifact, schema: OutputSchema): Promise<unknown> {
  const text = await artifact.asString()
  if (/[/+]json\b/.test(artifact.mediaType)) return JSON.parse(text)
  const types = [schema['type']].flat()
  const isText = types.includes('string') || types.every((type) => type === undefined)
  if (isText) return text
  // The text of another server, without the wrapper that its schema asks for.
  const [name, other] = Object.keys(Object(schema['properties']))
  if (types.includes('object') && name !== undefined && other === undefined) return { [name]: text }
  try {
    return JSON.parse(text) // a number, a boolean or null
  } catch {
    return text
  }
}
