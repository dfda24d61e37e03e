import { expect, it } from 'vitest'
import { Entries } from '../../src/journals/memory/_entries.ts'

interface Entry {
  readonly facts: { readonly id: string }
}

const owners = Array.from({ length: 10 }, (_, index) => `executor-${index}`)

it('finds the entries of a journal in memory by their ids, in whatever order they come and go', () => {
  const entries = new Entries<Entry>()
  const expected = new Map<string, Entry>()
  let random = 1
  const below = (most: number): number => (random = (random * 48_271) % 2_147_483_647) % most
  const counts = owners.map(() => 0)
  for (let round = 0; round < 20_000; round++) {
    const index = below(10) < 8 ? 0 : below(owners.length)
    const owner = owners[index]!
    const number = below(20) === 0 ? below(5_000) : counts[index]!++ + below(3)
    const id = [`${owner}-${number}`, `${owner}-${number}`, `order-${number}`, `${owner}-0${number}`][below(4)]!
    expect(entries.get(id)).toBe(expected.get(id))
    const entry = { facts: { id } }
    expect(entries.add(entry, owner)).toBe(!expected.has(id))
    if (!expected.has(id)) expected.set(id, entry)
    while (expected.size > 700) {
      const [oldest, next] = [...expected.values()]
      const gone = below(3) === 0 ? next! : oldest!
      entries.delete(gone)
      entries.delete(gone) // it is gone already
      expected.delete(gone.facts.id)
      expect(entries.get(gone.facts.id)).toBeUndefined()
    }
    if (round % 1_000 === 0) expect(new Set(entries.values())).toEqual(new Set(expected.values()))
  }
  for (const entry of expected.values()) {
    expect(entries.get(entry.facts.id)).toBe(entry)
    entries.delete(entry)
  }
  expect([...entries.values()]).toEqual([])
})

it.each(['', '-', '-1', 'a', 'a-', 'a-1x', 'a--1', 'a-1e3', 'a-99999999999999999999', 'a-007', 'a-1.5', 'b-1', 'a-1'])(
  'keeps the entry of the id %j apart from all others',
  (id) => {
    const entries = new Entries<Entry>()
    const [first, entry] = [{ facts: { id: 'a-0' } }, { facts: { id } }]
    expect(entries.add(first, 'a')).toBe(true)
    expect(entries.get(id)).toBeUndefined()
    expect(entries.add(entry, 'a')).toBe(true)
    expect(entries.add({ facts: { id } }, 'b')).toBe(false)
    expect([entries.get('a-0'), entries.get(id)]).toEqual([first, entry])
    expect(entries.get(`${id}~`)).toBeUndefined()
    entries.delete(first)
    expect([entries.get('a-0'), entries.get(id)]).toEqual([undefined, entry])
  },
)

it('keeps no place for each entry that went while an older one stayed', () => {
  const entries = new Entries<Entry>()
  let reads = 0
  const entryOf = (number: number): Entry => ({
    get facts() {
      reads++
      return { id: `a-${number}` }
    },
  })
  const oldest = entryOf(0)
  entries.add(oldest, 'a')
  const living: Entry[] = []
  for (let number = 1; number < 50_000; number++) {
    const entry = entryOf(number)
    entries.add(entry, 'a')
    living.push(entry)
    if (living.length > 10) entries.delete(living.shift()!)
  }
  expect(reads).toBeLessThan(60_000) // the first that goes is read only while it is not the first of all
  expect(entries.get('a-0')).toBe(oldest)
  expect(entries.add(entryOf(0), 'a')).toBe(false)
  expect(new Set(entries.values())).toEqual(new Set([oldest, ...living]))
  for (const entry of [oldest, ...living]) entries.delete(entry)
  expect([...entries.values()]).toEqual([])
})
