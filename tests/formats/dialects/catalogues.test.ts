import process from 'node:process'
import { tmpdir } from 'node:os'
import type { ToolDefinition } from 'toolwright'
import { mcpTools } from 'toolwright/mcp/client'
import { describe, expect, test } from 'vitest'
import type { Node } from '../../../src/formats/_lower/schema.ts'
import { missing, program } from '../../servers/installed.ts'
import examples from '../../examples/tools.ts'
import { compile, dialects } from './dialects.ts'
import { faultsOf } from './rules.ts'

async function toolsOf(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly ToolDefinition[]> {
  await using served = await mcpTools({ name, command: process.execPath, args: [program(name), ...args], env })
  return served.tools()
}

const catalogues: readonly (readonly [string, () => Promise<readonly ToolDefinition[]>])[] = [
  ['examples', async () => examples],
  ['mcp-server-filesystem', () => toolsOf('mcp-server-filesystem', [tmpdir()])],
  ['mcp-server-everything', () => toolsOf('mcp-server-everything', ['stdio'])],
  // They list their tools without a network. No call is made, so the tokens are none.
  ['mcp-server-github', () => toolsOf('mcp-server-github', [], { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' })],
  ['notion-mcp-server', () => toolsOf('notion-mcp-server', [], { NOTION_TOKEN: 'none' })],
]

describe.each(catalogues)('the tools of %s', (name, load) => {
  test.skipIf(name !== 'examples' && missing !== undefined)(
    'are taken in every dialect, and lose what the snapshot says',
    { timeout: 60_000 },
    async () => {
      const lines: string[] = []
      for (const tool of await load()) {
        const schema = JSON.parse(JSON.stringify(tool.describe().inputSchema)) as Node
        for (const dialect of dialects) {
          const { schema: made, losses, refused } = compile(schema, dialect)
          const out = JSON.parse(JSON.stringify(made)) as Node
          if (refused !== undefined) {
            expect(dialect.name, `${tool.name}: ${refused}`).toContain('strict') // it goes out without `strict`
            lines.push(`${tool.name} ${dialect.name} not strict: ${refused}`)
            continue
          }
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
