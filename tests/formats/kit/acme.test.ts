// Also run where the packed package is installed, by tests/portable/matrix.test.ts.
import { tool, type ToolCall } from 'toolwright'
import { describeFormat } from 'toolwright/conformance/formats'
import { expect, test } from 'vitest'
import { messages } from '../_messages.ts'
import { acme, type AcmeReply } from './acme.ts'

const turn = (calls: readonly ToolCall[]): object => ({
  speaker: 'acme',
  parts: [{ words: 'One moment.' }, ...calls.map(({ id, name, args }) => ({ ask: name, ref: id, args }))],
})
const twoCalls = [
  { id: 'r1', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
  { id: 'r2', name: 'now', args: '{}' },
]

describeFormat('acme', acme, {
  own: [
    { title: 'a turn with two calls', message: turn(twoCalls), calls: twoCalls },
    { title: 'a turn of words alone', message: turn([]), calls: [] },
  ],
  foreign: Object.values(messages).flat(),
  answersIn: (reply) =>
    (reply as AcmeReply).answers.map(({ ref, words, failed }) => ({ id: ref, text: words, failed })),
  asking: turn,
  refused: { providerOptions: { acme: { hosted: 7 } } },
})

test('acme writes schemas in the dialect of its rules, and gives args back as the tool takes them', () => {
  const book = tool({
    name: 'book',
    description: 'Books a table',
    inputSchema: {
      type: 'object',
      properties: {
        day: { type: 'string', format: 'date' },
        mail: { type: 'string', format: 'email' },
        names: { type: 'object', additionalProperties: { type: 'string', minLength: 2 } },
      },
      required: ['day'],
    },
    examples: [{ day: '2030-01-02', names: { guest: 'Ada' } }],
    handler: () => 'booked',
  })
  const [definition] = acme({ strict: true }).definitions([book])
  expect(definition).toEqual({
    tool: 'book',
    about: 'Books a table\n\nExamples of args:\n{"day":"2030-01-02","names":[{"key":"guest","value":"Ada"}]}',
    takes: {
      type: 'object',
      properties: {
        day: { type: 'string', format: 'date' },
        mail: { type: 'string', description: 'Format: email.' },
        names: {
          type: 'array',
          items: {
            type: 'object',
            properties: { key: { type: 'string' }, value: { type: 'string', description: 'At least 2 characters.' } },
            required: ['key', 'value'],
          },
        },
      },
      required: ['day'],
    },
    exact: true,
  })
  const args = { day: '2030-01-02', names: [{ key: 'guest', value: 'Ada' }] }
  expect(acme().calls(turn([{ id: 'r1', name: 'book', args }]), [book])).toEqual([
    { id: 'r1', name: 'book', args: { day: '2030-01-02', names: { guest: 'Ada' } } },
  ])
})
