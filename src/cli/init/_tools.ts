/** How a validator writes the schemas of the two tools that `init` makes. */
interface ValidatorSchemas {
  /** The packages to install beside this one. */
  readonly packages: readonly string[]
  readonly imports: readonly string[]
  readonly city: string
  readonly message: string
}

/** The validators by their names. */
export const validators: Readonly<Record<string, ValidatorSchemas>> = {
  zod: {
    packages: ['zod'],
    imports: ["import { z } from 'zod'"],
    city: "z.object({ city: z.string().min(1).describe('Bergen, Lisbon or Oslo') })",
    message: 'z.object({ to: z.string().min(1), text: z.string().max(500) })',
  },
  valibot: {
    packages: ['valibot', '@valibot/to-json-schema'],
    imports: ["import { valibot } from 'toolwright/validators/valibot'", "import * as v from 'valibot'"],
    city: "valibot(v.object({ city: v.pipe(v.string(), v.minLength(1), v.description('Bergen, Lisbon or Oslo')) }))",
    message:
      'valibot(v.object({ to: v.pipe(v.string(), v.minLength(1)), text: v.pipe(v.string(), v.maxLength(500)) }))',
  },
  arktype: {
    packages: ['arktype'],
    imports: ["import { type } from 'arktype'"],
    city: "type({ city: type('string > 0').describe('Bergen, Lisbon or Oslo') })",
    message: "type({ to: 'string > 0', text: 'string <= 500' })",
  },
  typebox: {
    packages: ['typebox'],
    imports: ["import { typebox } from 'toolwright/validators/typebox'", "import { Type } from 'typebox'"],
    city: "typebox(Type.Object({ city: Type.String({ minLength: 1, description: 'Bergen, Lisbon or Oslo' }) }))",
    message: `typebox(
    Type.Object({ to: Type.String({ minLength: 1 }), text: Type.String({ maxLength: 500 }) }),
  )`,
  },
  'json-schema': {
    packages: [],
    imports: [],
    city: `{
    type: 'object',
    properties: { city: { type: 'string', minLength: 1, description: 'Bergen, Lisbon or Oslo' } },
    required: ['city'],
  }`,
    message: `{
    type: 'object',
    properties: { to: { type: 'string', minLength: 1 }, text: { type: 'string', maxLength: 500 } },
    required: ['to', 'text'],
  }`,
  },
}

/** The file `tools.ts`. */
export function toolsFile({ imports, city, message }: ValidatorSchemas): string {
  return `\
// The tools. \`npx toolwright list tools.ts\` prints what a model reads of them.
import { tool, ToolFailure, type Tool } from 'toolwright'
${imports.map((line) => `${line}\n`).join('')}
const forecasts = new Map([
  ['bergen', 'rain, 9 °C'],
  ['lisbon', 'sun, 24 °C'],
  ['oslo', 'clouds, 7 °C'],
])

const getForecast = tool({
  name: 'get_forecast',
  description: 'Weather forecast for a city',
  inputSchema: ${city},
  traits: { readonly: true },
  handler: ({ city }) => {
    const forecast = forecasts.get(city.toLowerCase())
    // The model reads the message, and what it could do next.
    if (forecast === undefined) {
      throw new ToolFailure(\`There is no forecast for \${city}.\`, {
        recommendations: ['Ask for Bergen, Lisbon or Oslo.'],
      })
    }
    return forecast
  },
})

/** A person is asked before it runs. */
const sendMessage = tool({
  name: 'send_message',
  description: 'Sends a message to a person',
  inputSchema: ${message},
  requiresConfirmation: true,
  confirmationMessage: ({ to, text }) => \`Send "\${text}" to \${to}?\`,
  handler: ({ to, text }) => \`Sent to \${to}: \${text}\`,
})

const tools: readonly Tool[] = [getForecast, sendMessage]
export default tools
`
}

/** The file `tools.test.ts`. */
export const testFile: string = `\
// Run it with \`node --test\`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExecutor } from 'toolwright'
import tools from './tools.ts'

test('a forecast is found, whatever the case of the city', async () => {
  const executor = createExecutor({ tools })
  const { status, content } = await executor.execute({ name: 'get_forecast', args: { city: 'BERGEN' } })
  assert.equal(status, 'ok')
  assert.deepEqual(content, [{ type: 'text', text: 'rain, 9 °C' }])
})

test('args that do not fit are refused before the handler runs', async () => {
  const executor = createExecutor({ tools })
  const { error, effect } = await executor.execute({ name: 'get_forecast', args: { city: 7 } })
  assert.equal(error?.code, 'E_INVALID_TOOL_ARGS')
  assert.equal(effect, 'none')
})

test('a message waits for a person, and is sent after the answer', async () => {
  const executor = createExecutor({ tools })
  const { status } = await executor.execute({ name: 'send_message', args: { to: 'Ada', text: 'It rains.' } })
  assert.equal(status, 'waiting')
  const [call] = await executor.calls.waiting()
  assert.equal(call?.prompt, 'Send "It rains." to Ada?')
  assert.equal((await executor.calls.decide(call, 'allow')).status, 'ok')
})
`
