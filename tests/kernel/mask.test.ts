import { describe, expect, test } from 'vitest'
import { mask, masked } from '../../src/kernel/mask.ts'

describe('masked', () => {
  test.each<[string, unknown, string[], unknown]>([
    ['a field', { user: 'a', password: 'p' }, ['/password'], { user: 'a', password: mask }],
    ['a field within', { a: { b: { c: 1 }, d: 2 } }, ['/a/b/c'], { a: { b: { c: mask }, d: 2 } }],
    ['a whole branch', { a: { b: 1 } }, ['/a'], { a: mask }],
    ['an item of an array', { list: ['x', 'y'] }, ['/list/1'], { list: ['x', mask] }],
    ['several', { a: 1, b: 2, c: 3 }, ['/a', '/c'], { a: mask, b: 2, c: mask }],
    [
      'escaped names',
      { 'a/b': 1, 'c~d': 2, '~1': 3 },
      ['/a~1b', '/c~0d', '/~01'],
      { 'a/b': mask, 'c~d': mask, '~1': mask },
    ],
    ['the empty name', { '': 1 }, ['/'], { '': mask }],
    ['what is null', { a: null }, ['/a'], { a: mask }],
    ['nothing where there is none', { a: 1 }, ['/b', '/a/b/c'], { a: 1 }],
    ['nothing in what is no object', 'text', ['/a'], 'text'],
    ['nothing in null', null, ['/a'], null],
    ['no inherited name', { a: 1 }, ['/toString', '/constructor/name'], { a: 1 }],
    ['nothing of an array that is no item', [1, 2], ['/length', '/x'], [1, 2]],
  ])('%s', (_, value, secrets, expected) => {
    expect(masked(value, secrets)).toEqual(expected)
  })

  test('leaves the value itself as it was', () => {
    const value = { a: { b: 'secret' }, list: ['secret'] }
    masked(value, ['/a/b', '/list/0'])
    expect(value).toEqual({ a: { b: 'secret' }, list: ['secret'] })
  })

  test('copies nothing where nothing is secret', () => {
    const value = { a: 1 }
    expect(masked(value, [])).toBe(value)
  })

  test('a key `__proto__` is data', () => {
    const value: unknown = JSON.parse('{"__proto__":{"password":"p"}}')
    const copy = masked(value, ['/__proto__/password'])
    expect(JSON.stringify(copy)).toBe(`{"__proto__":{"password":"${mask}"}}`)
    expect(({} as { password?: unknown }).password).toBeUndefined()
  })
})
