import { expect, it } from 'vitest'
import { newestFirst } from 'toolwright/records'
import { NewestFirst } from '../../src/journals/memory/_newest.ts'

interface Placed {
  readonly facts: { readonly createdAt: number; readonly id: string }
}

const placedAt = (createdAt: number, id: string): Placed => ({ facts: { createdAt, id } })

it('the order of the journal in memory is that of its records, whichever come late and go', () => {
  const order = new NewestFirst<Placed>()
  let left: Placed[] = []
  const remove = (index: number): void => {
    const [gone] = left.splice(index, 1)
    order.delete(gone!)
    order.delete(gone!) // it is gone already
  }
  let number = 1
  for (let round = 0; round < 2_000; round++) {
    number = (number * 48_271) % 2_147_483_647
    // Most come at the end and go at the beginning; some come late, and some go before their time.
    const placed = placedAt(number % 7 === 0 ? round * 10 - (number % 4_000) : round * 10, String(round))
    order.add(placed)
    left = [...left, placed].toSorted((one, other) => newestFirst(other.facts, one.facts))
    while (left.length > 1_200) remove(0)
    if (number % 5 === 0) remove(number % left.length)
    if (round % 97 === 0) expect([...order.list()]).toEqual(left.toReversed())
  }
  while (left.length > 1) remove(0)
  expect([...order.list()]).toEqual(left)
  const [last] = left
  expect([...order.list({ createdAt: last!.facts.createdAt - 1, id: '' })]).toEqual([])
  remove(0)
  order.add(placedAt(5, ''))
  expect([...order.list()]).toEqual([placedAt(5, '')])
})

it.each([10, 2_000])('gives records their places if they are listed after they came and went: %i at a time', (most) => {
  const order = new NewestFirst<Placed>()
  let left: Placed[] = []
  for (let round = 0; round < 5_000; round++) {
    const placed = placedAt(Math.floor(round / 30), String(round)) // in the order of their ids if they came at once
    order.add(placed)
    left.push(placed)
    if (left.length > most) order.delete(left.shift()!)
  }
  left = left.toSorted((one, other) => newestFirst(other.facts, one.facts))
  expect([...order.list()]).toEqual(left.toReversed())
  order.add(placedAt(0, 'late'))
  expect([...order.list()].at(-1)?.facts.id).toBe('late')
  for (const placed of left) order.delete(placed)
  expect([...order.list()]).toHaveLength(1)
})
