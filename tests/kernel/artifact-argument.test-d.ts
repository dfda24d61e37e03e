import { artifact, JsonArtifact, SpooledArtifact, TextArtifact, tool, type OutputOf } from 'toolwright'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

class Report extends TextArtifact {
  title(): Promise<string> {
    return this.head(1)
  }
}

test('the handler gets the class that was asked for, and the caller gives a handle', () => {
  const count = tool({
    name: 'count',
    description: 'Counts',
    inputSchema: z.object({
      rows: z.string().transform(artifact(JsonArtifact)),
      report: z.string().transform(artifact(Report)).optional(),
    }),
    handler: ({ rows, report }) => {
      expectTypeOf(rows).toEqualTypeOf<JsonArtifact>()
      expectTypeOf(report).toEqualTypeOf<Report | undefined>()
      return rows.length()
    },
  })
  expectTypeOf(count).parameter(0).toEqualTypeOf<{ rows: string; report?: string | undefined }>()
  expectTypeOf(count({ rows: 'x' })).toEqualTypeOf<Promise<number>>()
})

test('as a schema of its own it takes a handle or the artifact, and gives the artifact', () => {
  const one = artifact(Report)
  expectTypeOf<OutputOf<typeof one>>().toEqualTypeOf<Report>()
  expectTypeOf(one('artifact_x')).toEqualTypeOf<Report>()
  expectTypeOf(artifact(SpooledArtifact)('artifact_x')).toEqualTypeOf<SpooledArtifact>()
  // @ts-expect-error a class that is no artifact's
  artifact(Map)
})
