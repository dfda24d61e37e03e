import { masked } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { redactIssues, mask } from './_inside.ts'

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
    ['text that may hold it', 'text', ['/a'], mask],
    ['text within that may hold it', { a: '{"b":1}', c: 'd' }, ['/a/b'], { a: mask, c: 'd' }],
    ['what stands in each item of a list', [{ a: 1 }, { b: 2 }], ['/a'], [{ a: mask }, { b: 2 }]],
    ['what stands in each item of a list within', { l: [[{ a: 1 }]] }, ['/l/a'], { l: [[{ a: mask }]] }],
    ['nothing in a number', 5, ['/a'], 5],
    ['nothing in null', null, ['/a'], null],
    ['no inherited name', { a: 1 }, ['/toString', '/constructor/name'], { a: 1 }],
    ['all items of a list that stands for an object', [1, 'a', null], ['/length', '/x'], [mask, mask, null]],
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

describe('redactIssues', () => {
  const secrets = ['/a/b', '/list/pin']
  test.each<[string, PropertyKey[], PropertyKey[] | undefined]>([
    ['the secret itself', ['a', 'b'], ['a', 'b']],
    ['a place within the secret, whose keys are not told', ['a', 'b', 'key', 0], ['a', 'b']],
    ['the parent of a secret', ['a'], ['a']],
    ['the root', [], []],
    ['a secret in a list of args', [0, 'a', 'b'], [0, 'a', 'b']],
    ['a secret in an item', ['list', 3, 'pin'], ['list', 3, 'pin']],
    ['an item that holds a secret', ['list', 3], ['list', 3]],
    ['another member', ['a', 'c'], undefined],
    ['a name that only begins alike', ['ab'], undefined],
    ['a member of another', ['c', 'a', 'b'], undefined],
  ])('hides what a validator says of %s', (_, path, shownPath) => {
    const issue = { message: 'got canary', path }
    expect(redactIssues([issue], secrets)).toEqual([
      shownPath === undefined ? issue : { message: 'must be what the schema of the tool says', path: shownPath },
    ])
  })

  test('changes nothing for a tool without secrets', () => {
    const issues = [{ message: 'got 5', path: [] }]
    expect(redactIssues(issues, [])).toBe(issues)
  })
})
