// What the identity of a call costs: canonical text, callId, and the strict reading of args that come as text.
// Texts of many lengths are read by a reader that has read many small ones, as in a server that runs for long.
import { createHash } from 'node:crypto'
import peer from 'canonicalize'
import { callIdOf, canonicalize } from '../src/kernel/json/canonical.ts'
import { parseJson } from '../src/kernel/json/parse.ts'
import { sha256 } from '../src/platform/sha256-node.ts'
import * as portable from '../src/platform/sha256-portable.ts'
import { compare, printTable } from './_runner.ts'

const request = {
  query: 'quarterly revenue by region, net of returns',
  filters: { region: ['north', 'south'], since: '2026-01-01', minimum: 12.5, includeDrafts: false },
  limit: 25,
  cursor: null,
  fields: ['id', 'region', 'amount', 'currency', 'updatedAt'],
  note: 'He said: "compare with last year", then left.\nNothing else.',
  sort: [{ field: 'amount', descending: true }],
}
const entry = (index: number): object => ({
  ...request,
  id: `row_${index}`,
  amount: index * 1.25,
  active: index % 2 === 0,
})
const samples: Record<string, unknown> = {
  '50 B': { path: 'src/kernel/json/canonical.ts', offset: 120, limit: 40 },
  '350 B': request,
  '500 B': {
    ...request,
    author: { name: 'Åsa Öberg', team: 'finance', id: 481_516 },
    tags: ['board', 'draft', 'q3'],
    retries: 2,
    dryRun: true,
  },
  '5 kB': { entries: Array.from({ length: 11 }, (_, index) => entry(index)) },
  '100 kB': { entries: Array.from({ length: 220 }, (_, index) => entry(index)) },
  '200 kB, small rows': Array.from({ length: 10_000 }, (_, index) => ({ k: 'key1', v: index % 10 })),
  '100 kB, one string': { path: 'a.txt', content: 'A line of text that says "hello" to the world.\n'.repeat(2200) },
}

for (let count = 0; count < 5_000; count++) parseJson(`{"path":"a/${count}.txt","limit":${count},"all":true}`)

const identity = []
const strict = []
for (const [title, value] of Object.entries(samples)) {
  const text = JSON.stringify(value)
  const canonical = canonicalize(value)
  identity.push(
    ...(await compare(
      `${title} (${canonical.length})`,
      {
        canonicalize: () => peer(value),
        'our canonicalize': () => canonicalize(value),
        'ours, with a limit': () => canonicalize(value, 262_144),
        'JSON.stringify (not sorted)': () => JSON.stringify(value),
        'canonicalize + createHash': () =>
          createHash('sha256')
            .update(`{"args":${peer(value)},"tool":"search"}`)
            .digest('hex'),
        'our canonicalize + callIdOf': () => callIdOf('search', canonicalize(value)),
        'sha256, one shot': () => sha256(canonical),
        'sha256, portable': () => portable.sha256(canonical),
      },
      { clock: 'processor' },
    )),
  )
  strict.push(
    ...(await compare(
      `${title} (${text.length}), read`,
      {
        'JSON.parse': () => JSON.parse(text),
        'our parseJson': () => parseJson(text),
        'our parseJson + canonicalize': () => canonicalize(parseJson(text)),
      },
      { clock: 'processor' },
    )),
  )
}
printTable(identity)
printTable(strict)
