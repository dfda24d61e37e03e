import type * as zod from 'zod'

interface Search {
  query: string
  filters: { region: string[]; since: string; minimum: number; includeDrafts: boolean }
  limit: number
  fields: string[]
  note: string
  sort: { field: string; descending: boolean }[]
}

/** The args of a typical call, about 350 bytes as JSON. */
export const args: Search = {
  query: 'quarterly revenue by region, net of returns',
  filters: { region: ['north', 'south'], since: '2026-01-01', minimum: 12.5, includeDrafts: false },
  limit: 25,
  fields: ['id', 'region', 'amount', 'currency', 'updatedAt'],
  note: 'He said: "compare with last year", then left.\nNothing else.',
  sort: [{ field: 'amount', descending: true }],
}

/** What these args have to be, for Zod, which is handed in so that loading it can be timed. */
export function searchSchema({ z }: typeof zod): zod.ZodType<Search, Search> {
  return z.object({
    query: z.string(),
    filters: z.object({
      region: z.array(z.string()),
      since: z.string(),
      minimum: z.number(),
      includeDrafts: z.boolean(),
    }),
    limit: z.number().int().max(100),
    fields: z.array(z.string()),
    note: z.string(),
    sort: z.array(z.object({ field: z.string(), descending: z.boolean() })),
  })
}

/** The same as raw JSON Schema. */
export const searchJsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    filters: {
      type: 'object',
      properties: {
        region: { type: 'array', items: { type: 'string' } },
        since: { type: 'string' },
        minimum: { type: 'number' },
        includeDrafts: { type: 'boolean' },
      },
      required: ['region', 'since', 'minimum', 'includeDrafts'],
    },
    limit: { type: 'integer', maximum: 100 },
    fields: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
    sort: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, descending: { type: 'boolean' } },
        required: ['field', 'descending'],
      },
    },
  },
  required: ['query', 'filters', 'limit', 'fields', 'note', 'sort'],
} as const
