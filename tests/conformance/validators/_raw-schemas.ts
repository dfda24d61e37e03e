import type { JsonSchemaObject } from 'toolwright/extension'

const text = { type: 'string' } as const satisfies JsonSchemaObject

/** The common schemas as raw JSON Schema. */
export const rawSchemas: Readonly<Record<'order' | 'ownProperty' | 'closed', JsonSchemaObject>> = {
  order: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1, description: 'The city' },
      days: { type: 'integer', maximum: 10, default: 3 },
      unit: { enum: ['c', 'f'] },
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string', description: 'Its name' }, tags: { type: 'array', items: text } },
          required: ['name'],
        },
      },
    },
    required: ['city', 'items'],
  },
  ownProperty: { type: 'object', properties: { toString: text }, required: ['toString'] },
  closed: { type: 'object', properties: { city: text }, required: ['city'], additionalProperties: false },
}
