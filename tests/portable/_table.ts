// The table of `src/platform/README.md` that says where the package runs. As a program, writes it: `node tests/portable/_table.ts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import prettier from 'prettier'
import { hosts } from './hosts.ts'
import type { Need } from './run.ts'

export const page: string = join(import.meta.dirname, '..', '..', 'src', 'platform', 'README.md')
const begin = '<!-- Written by `node tests/portable/_table.ts`. -->'

/** What users miss if a platform lacks something. */
const missed: Partial<Record<Need, string>> = {
  eval: '`validators/ajv`',
  files: '`stores/file`',
  sqlite: '`journals/sqlite`, `observers/tracing-channel`',
  sockets: '`listen()`, `client/node`, `devtools`, `distributed/bullmq`',
  processes: 'MCP servers by `command`, `builtins`',
  postgres: 'Postgres by its address',
  decoder: '`artifacts`',
  web: '`client/browser`, `client/http`, `imports`, `mcp`, `stores/s3`, ArkType',
}

/** The text of the page with the table as it has to be. */
export async function withTable(text: string): Promise<string> {
  const rows = new Map<string, { readonly versions: Set<string>; readonly without: Set<string> }>()
  for (const { name, row = name, version, lacks, remark } of hosts) {
    const known = rows.get(row) ?? { versions: new Set(), without: new Set() }
    rows.set(row, known)
    known.versions.add(version)
    if (remark !== undefined) known.without.add(remark)
    else for (const need of lacks) if (missed[need] !== undefined) known.without.add(missed[need])
  }
  const lines = [...rows].map(
    ([row, { versions, without }]) => `| ${row} | ${[...versions].join(', ')} | ${[...without].join(', ') || '–'} |`,
  )
  const table = await prettier.format(['| On | Tried | Without |', '| --- | --- | --- |', ...lines].join('\n'), {
    parser: 'markdown',
    printWidth: 120,
  })
  const start = text.indexOf(begin)
  if (start < 0) throw new Error(`The page has no line ${begin}`)
  const rest = text.slice(start + begin.length).replace(/^\s*(?:\|.*\n)*/, '')
  return `${text.slice(0, start + begin.length)}\n\n${table}${rest.startsWith('\n') ? '' : '\n'}${rest}`
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, await withTable(readFileSync(page, 'utf8')))
