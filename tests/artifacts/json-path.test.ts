import { existsSync, readFileSync } from 'node:fs'
import { JsonArtifact } from 'toolwright'
import { filter, JsonLinesArtifact } from 'toolwright/artifacts/json'
import { describe, expect, test } from 'vitest'
import { artifactOf, turnsDuring } from '../conformance/artifacts.ts'

interface Case {
  readonly name: string
  readonly selector: string
  readonly document?: unknown
  readonly result?: unknown[]
  readonly results?: unknown[][]
  readonly invalid_selector?: boolean
}

const file = new URL(
  '../../node_modules/jsonpath-rfc9535/src/__tests__/jsonpath-compliance-test-suite/cts.json',
  import.meta.url,
)
const reason = existsSync(file)
  ? undefined
  : 'the package jsonpath-rfc9535, which has the suite in it, is not installed'
if (reason !== undefined) console.warn(`The compliance suite of JSONPath is skipped: ${reason}.`)
const { tests: cases } = (reason === undefined ? JSON.parse(readFileSync(file, 'utf8')) : { tests: [] }) as {
  tests: Case[]
}

/** Patterns that come out of the document are refused here, and the suite has them. */
const refused = [
  'functions, match, regex from the document',
  'functions, match, non-string second arg',
  'functions, match, arg is a function expression',
  'functions, search, regex from the document',
  'functions, search, non-string second arg',
  'functions, search, arg is a function expression',
]

function of(value: unknown): JsonArtifact {
  return artifactOf(JsonArtifact, JSON.stringify(value))
}

describe.skipIf(reason !== undefined)('the compliance suite of RFC 9535', () => {
  test('is there as a whole', () => {
    expect(cases.length).toBeGreaterThan(600)
    expect(refused.filter((name) => !cases.some((each) => each.name === name))).toEqual([])
  })

  test.each(cases.filter(({ name, invalid_selector }) => invalid_selector !== true && !refused.includes(name)))(
    '$name: $selector',
    async ({ selector, document = null, result, results = [result ?? []] }) => {
      expect(results).toContainEqual(await filter(of(document), selector))
    },
  )

  test.each(cases.filter(({ name, invalid_selector }) => invalid_selector === true || refused.includes(name)))(
    'refuses $name: $selector',
    async ({ selector }) => {
      await expect(filter(of([]), selector)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    },
  )
})

describe('a path', () => {
  const rows = of([{ a: 1, b: 1 }, { a: 1, c: 1 }, { a: 1, b: 1, c: 1 }, [2], [5]])

  test.each<[string, unknown[]]>([
    ['$[?@.a && @.b && @.c]', [{ a: 1, b: 1, c: 1 }]],
    ['$[?@[0] == 2]', [[2]]],
    ['$[?@.a && (@.b || @.c)].c', [1, 1]],
    ['$[?!@.a]', [[2], [5]]],
    ['$.__proto__', []],
    ['$..constructor', []],
    ['$[?@.toString]', []],
  ])('%s means what it says', async (path, values) => {
    expect(await filter(rows, path)).toEqual(values)
  })

  test.each<[string, RegExp]>([
    ['', /begin with "\$"/],
    ['$.a b', /at character 3/],
    ['$[?foo(@)]', /there are length, count, value, match and search/],
    ['$[?@.*==1]', /one value/],
    ['$[?match(@.a, @.b)]', /written out in quotes/],
    [`$${'.a'.repeat(1_001)}`, /longer than 2000/],
    [`$[?${'('.repeat(40)}@.a${')'.repeat(40)}]`, /nested deeper than 32/],
    [`$${'[?@'.repeat(200)}`, /nested deeper than 32/],
  ])('%s is refused, with the reason', async (path, message) => {
    await expect(filter(rows, path)).rejects.toThrow(message)
    await expect(filter(rows, path)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  test('is asked about no more than its limit, and passes over what comes before its start', async () => {
    expect(await filter(of([0, 1, 2, 3, 4]), '$[*]', { start: 1, limit: 2 })).toEqual([1, 2])
    expect(await filter(of([0, 1]), '$[*]', { limit: 0 })).toEqual([])
    expect(await filter(of(Array.from({ length: 2_000 }, () => 0)), '$[*]')).toHaveLength(1_000)
  })

  test('stops as soon as it has enough, also where all of it would be too much', async () => {
    const path = `$${'[*,*,*,*]'.repeat(12)}`
    let nested: unknown = 1
    for (let depth = 0; depth < 12; depth++) nested = [nested]
    expect(await filter(of(nested), path, { limit: 3 })).toEqual([1, 1, 1])
    await expect(filter(of(nested), path, { limit: Infinity, steps: 100_000 })).rejects.toMatchObject({
      code: 'E_ARTIFACT',
    })
  })

  test.each([
    ['that multiplies what it finds', '$[*,*,*,*][*,*,*,*][*,*,*,*].none', [[[[0]]]]],
    ['that descends again and again', '$..*..*..none', [[[[[[[[0]]]]]]]]],
    ['that searches the document for each item', '$[?$..none]', Array.from({ length: 300 }, () => ({ a: 1 }))],
    ['that counts everything for each item', '$..[?count(@..*) > 9999]', [[[[[[[[0]]]]]]]]],
    [
      'that compares much with much',
      '$[?@ == $[0]]',
      Array.from({ length: 40 }, () => [
        [1, 2],
        [3, 4],
      ]),
    ],
  ])('%s gives up after the steps that it may take', async (_, path, value) => {
    await expect(filter(of(value), path, { steps: 100 })).rejects.toThrow('takes more than 100 steps')
    expect(Array.isArray(await filter(of(value), path))).toBe(true)
  })

  test('counts the steps of a value that is nested deeper than the stack goes', async () => {
    const depth = 200_000
    const text = `[${'['.repeat(depth)}${']'.repeat(depth)},${'['.repeat(depth)}${']'.repeat(depth)}]`
    const artifact = artifactOf(JsonArtifact, text)
    expect(await filter(artifact, '$[0] == 1').catch((error: { code: string }) => error.code)).toBe('E_ARTIFACT')
    expect(await filter(artifact, '$[?@ == $[1]]', { limit: Infinity })).toHaveLength(2)
    expect(await filter(artifact, '$..none')).toEqual([])
  })
})

describe('patterns in a path', () => {
  const texts = of(['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', 'ab.c', 'line\nbreak', '2026-11-22'])

  test.each<[string, string[]]>([
    [String.raw`$[?match(@, '\\d{4}-\\d\\d-\\d\\d')]`, ['2026-11-22']],
    [String.raw`$[?search(@, '[.]c')]`, ['ab.c']],
    [`$[?match(@, 'line.break')]`, []],
    [`$[?match(@, 'ab|ab.c')]`, ['ab.c']],
    [`$[?match(@, '(a+)+')]`, []],
    [`$[?match(@, '(a|a)*b')]`, []],
    [`$[?search(@, '(.*)*(.*)*x')]`, []],
  ])('%s take time in proportion to the text', async (path, found) => {
    expect(await filter(texts, path)).toEqual(found)
  })

  test.each([
    ['that looks around', `$[?match(@, '(?=a)a')]`],
    ['that refers to a group', String.raw`$[?match(@, '(a)\\1')]`],
    ['that is too long', `$[?search(@, '${'a?'.repeat(300)}')]`],
    ['that counts too far', `$[?search(@, '(?:a?){1000}a{1000}')]`],
    ['that is none', `$[?search(@, '(')]`],
  ])('are refused: one %s', async (_, path) => {
    await expect(filter(texts, path)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  test('count as steps, text by text', async () => {
    const long = of(Array.from({ length: 50 }, () => 'a'.repeat(10_000)))
    await expect(filter(long, `$[?search(@, '(a*)*b')]`, { steps: 5_000 })).rejects.toThrow('steps')
  })
})

test('everybody else has a turn while a path is asked about a large document', async () => {
  const artifact = of(Array.from({ length: 200_000 }, (_, index) => ({ index })))
  await artifact.value()
  const search = filter(artifact, '$..none')
  expect(await turnsDuring(search)).toBeGreaterThan(4)
  expect(await search).toEqual([])
})

describe('everybody else has a turn while a filter looks at much for each item:', () => {
  const rows = Array.from({ length: 500 }, (_, id) => ({
    id,
    b: { c: 'xx' },
    tags: Array.from({ length: 100 }, () => id),
  }))
  const long = 'x'.repeat(1_000_000) + '😀'

  test.each([
    'count($..*) > 1',
    '@.b.c == "xx" && count($..*) > 1',
    '!(count($..none) > 1) && count($..none) > 1',
    'value($..none) == 1',
    '$..none',
    '!$..none && (@.none || $..none)',
    'count($.rows[?count($..*) > 1]) > 1',
    'length(value($..none)) > 1',
  ])('%s', async (condition) => {
    const artifact = of({ rows })
    await artifact.value()
    const search = filter(artifact, `$.rows[?${condition}]`)
    const turns = turnsDuring(search.catch(() => {}))
    await expect(search).rejects.toThrow('takes more than 10,000,000 steps')
    expect(await turns).toBeGreaterThan(20) // there are at most 100,000 steps between two of them
  })

  test('comparing large values', async () => {
    const artifact = of({ rows, again: rows, items: Array.from({ length: 20 }, () => 0) })
    await artifact.value()
    const search = filter(artifact, '$.items[?$.rows == $.again]')
    expect(await turnsDuring(search)).toBeGreaterThan(10)
    expect(await search).toHaveLength(20)
  })

  test('measuring long texts', async () => {
    const artifact = of({ long, items: Array.from({ length: 50 }, () => 0) })
    await artifact.value()
    const search = filter(artifact, '$.items[?length($.long) == 1000001]')
    expect(await turnsDuring(search)).toBeGreaterThan(5)
    expect(await search).toHaveLength(50)
  })

  test('in JSON Lines', async () => {
    const line = JSON.stringify({ many: Array.from({ length: 2_000 }, () => [1]) })
    const artifact = artifactOf(JsonLinesArtifact, `${line}\n`.repeat(200))
    const search = filter(artifact, '$[?count(@..*) > 1]', { limit: 1_000, steps: 100_000_000 })
    expect(await turnsDuring(search)).toBeGreaterThan(4)
    expect(await search).toHaveLength(200)
  })
})

test('a search ends with the reason of its signal', async () => {
  const artifact = of(Array.from({ length: 200_000 }, (_, index) => ({ index })))
  await expect(filter(artifact, '$..none', { signal: AbortSignal.abort(new Error('given up')) })).rejects.toThrow(
    'given up',
  )
})
