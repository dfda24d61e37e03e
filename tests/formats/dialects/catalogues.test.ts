import process from 'node:process'
import { tmpdir } from 'node:os'
import type { ToolDefinition } from 'toolwright'
import { mcpTools } from 'toolwright/mcp/client'
import { describe, expect, test } from 'vitest'
import { providers } from '../../../src/formats/_dialects.ts'
import { mend } from '../../../src/formats/_lower/lenient.ts'
import { lower } from '../../../src/formats/_lower/lower.ts'
import type { Node } from '../../../src/formats/_lower/schema.ts'
import { missing, program } from '../../servers/installed.ts'
import stories from '../../stories/tools.ts'
import { faultsOf } from './rules.ts'

const dialects = Object.values(providers)
  .flatMap(({ usual, strict }) => [usual, strict])
  .filter((dialect) => typeof dialect === 'object')

async function toolsOf(name: string, ...args: readonly string[]): Promise<readonly ToolDefinition[]> {
  await using served = await mcpTools({ name, command: process.execPath, args: [program(name), ...args] })
  return served.tools()
}

const catalogues: readonly (readonly [string, () => Promise<readonly ToolDefinition[]>])[] = [
  ['stories', async () => stories],
  ['mcp-server-filesystem', () => toolsOf('mcp-server-filesystem', tmpdir())],
  ['mcp-server-everything', () => toolsOf('mcp-server-everything', 'stdio')],
]

describe.each(catalogues)('the tools of %s', (name, load) => {
  test.skipIf(name !== 'stories' && missing !== undefined)(
    'are taken in every dialect, and lose what the snapshot says',
    { timeout: 60_000 },
    async () => {
      const lines: string[] = []
      for (const tool of await load()) {
        const schema = JSON.parse(JSON.stringify(tool.describe().inputSchema)) as Node
        for (const dialect of new Set(dialects)) {
          const {
            schema: made,
            losses,
            refused,
          } = 'keywords' in dialect ? lower(schema, dialect) : mend(schema, dialect)
          const out = JSON.parse(JSON.stringify(made)) as Node
          expect(refused, `${tool.name} in ${dialect.name}`).toBeUndefined()
          expect(faultsOf(out, dialect.name), `${tool.name} in ${dialect.name}`).toEqual([])
          if (losses.length === 0) continue
          lines.push(`${tool.name} ${dialect.name} ${JSON.stringify(out)}`)
          for (const { pointer, done, note } of losses)
            lines.push(`  ${pointer || '/'} ${done} ${note ?? ''}`.trimEnd())
        }
      }
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`./catalogues/${name}.txt`)
    },
  )
})
