import { TextArtifact, tool, type ContentBlock, type ToolDefinition, type ToolResult } from 'toolwright'

export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const forecast: ToolDefinition = tool({
  name: 'get_forecast',
  title: 'Forecast',
  description: 'Weather forecast for a city',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Its name' }, days: { type: 'integer', maximum: 10 } },
    required: ['city'],
  },
  outputSchema: { type: 'object', properties: { temperature: { type: 'number' } } },
  traits: { readonly: true, openWorld: true },
  examples: [{ city: 'Oslo', days: 3 }],
  ui: { resourceUri: 'ui://weather/forecast', visibility: ['model', 'app'] },
  providerOptions: {
    anthropic: { cache_control: { type: 'ephemeral' } },
    openai: { strict: true },
    google: { behavior: 'BLOCKING' },
    mcp: { icons: [{ src: 'https://example.com/sun.png' }], annotations: { title: 'Sun' }, _meta: { owner: 'me' } },
  },
  libraryOptions: { 'ai-sdk': { strict: true } },
  handler: () => ({ temperature: 21 }),
})

/** The schema of `forecast` as OpenAI takes it of strict tools: closed, and null leaves out what is optional. */
export const strictForecast = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Its name' }, days: { type: ['integer', 'null'], maximum: 10 } },
  required: ['city', 'days'],
  additionalProperties: false,
} as const

export const now: ToolDefinition = tool({
  name: 'now',
  description: 'The time',
  inputSchema: { type: 'object', properties: { zone: { type: 'string' } } },
  handler: () => '12:00',
})

export const forPeople: ToolDefinition = tool({
  name: 'reset',
  description: 'Starts anew',
  audience: 'user',
  handler: () => null,
})

/** A tool that the provider runs, with the options of some providers. */
export function hosted(options: {
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly libraryOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}): ToolDefinition {
  return tool({ name: 'hosted', description: 'Runs elsewhere', type: 'provider', ...options })
}

/** A settled call, ok unless said otherwise. */
export function resultOf(fields: Partial<ToolResult> & { readonly content: readonly ContentBlock[] }): ToolResult {
  return {
    invocationId: 'inv_1',
    callId: 'ab'.repeat(32),
    toolName: 'get_forecast',
    status: 'ok',
    effect: 'completed',
    isError: false,
    durationMs: 1,
    ...fields,
  }
}

export function textResult(id: string | number, text: string, fields: Partial<ToolResult> = {}): ToolResult {
  return resultOf({ id, content: [{ type: 'text', text }], ...fields })
}

export function failure(id: string | number, text: string): ToolResult {
  return textResult(id, text, { status: 'error', effect: 'unknown', isError: true })
}

export function trustedArtifact(text: string): TextArtifact {
  return new TextArtifact({
    reader: { byteLength: text.length, read: (start, end) => new TextEncoder().encode(text).subarray(start, end) },
    trusted: true,
  })
}
