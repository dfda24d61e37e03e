// The format of a provider that there is not, as another package would write it: it imports public entries alone.
import type { Format, ToolCall, ToolDefinition } from 'toolwright'
import * as kit from 'toolwright/formats/kit'

export interface AcmeOptions extends kit.FormatOptions, kit.SchemaOptions {}
export interface AcmeTool {
  tool: string
  about: string
  takes: kit.ObjectSchema
}
export interface AcmeReply {
  speaker: 'host'
  answers: { ref: string; words: string; failed: boolean }[]
}

/** Acme asks in the `parts` of a turn: `{ ask: 'add', ref: 'r1', args: { … } }` stands beside `{ words: '…' }`. */
export function acme(options: AcmeOptions = {}): Format<AcmeTool, unknown, AcmeReply> {
  kit.requireOptions('acme', options, ['strict'])
  const optionsOf = ({ providerOptions }: ToolDefinition): unknown => providerOptions['acme']
  const dialect = { keywords: ['minimum', 'maximum', 'maxItems', 'format'], formats: ['date'], strict: true } as const
  const schemas = kit.schemasOf({ dialect, optionsOf, replaces: (own) => Object.hasOwn(own, 'takes') }, options)
  return {
    name: 'acme',
    report: schemas.report,
    definitions: kit.definer<AcmeTool>(
      {
        optionsOf,
        accept: (own, isHosted) =>
          isHosted && typeof own['hosted'] !== 'string'
            ? { fault: '`hosted` must name a tool that Acme runs' }
            : { options: own },
        define: ({ name, description, inputSchema }, own, { examples, strict }) => ({
          tool: name,
          about: kit.withExamples(description, examples),
          takes: inputSchema,
          ...(strict === undefined ? undefined : { exact: strict }),
          ...own,
        }),
      },
      options,
      schemas.plansOf,
    ),
    detect: (message) => kit.read(message, 'speaker') === 'acme' && Array.isArray(kit.read(message, 'parts')),
    calls(message, tools) {
      const calls = callsIn(message)
      if (calls.length === 0) kit.requireOwn(message, 'acme', this.detect(message), 'a turn of Acme')
      return schemas.lift(calls, tools)
    },
    results: (results, message, budget) => ({
      speaker: 'host',
      answers: kit.answers(results, options, callsIn(message), budget).map(({ result }) => ({
        ref: kit.answerId(result),
        words: kit.renderText(result, options),
        failed: result.isError,
      })),
    }),
  }
}

function callsIn(message: unknown): ToolCall[] {
  if (kit.read(message, 'speaker') !== 'acme') return []
  const parts = kit.list(kit.read(message, 'parts')).filter((part) => kit.text(kit.read(part, 'ask')) !== '')
  return parts.map((part) => kit.toolCall(kit.read(part, 'ref'), kit.read(part, 'ask'), kit.read(part, 'args')))
}
