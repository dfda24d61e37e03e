import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { TableArtifact, type Condition } from 'toolwright/artifacts/table'
import { describe, expect, test } from 'vitest'
import { artifactConformance, artifactOf, CountingReader, stretch, turnsDuring } from '../conformance/artifacts.ts'

artifactConformance('TableArtifact', TableArtifact, {
  inputs: {
    table_columns: [{}, { start: 1 }],
    table_row_count: [{}],
    table_rows: [{}, { start: 2, limit: 3 }, { columns: ['a'] }],
    table_where: [{ conditions: [] }, { conditions: [{ column: 'a', operator: 'empty' }], from_row: 1, limit: 2 }],
    table_column: [{ column: 'a' }],
  },
})

function table(text: string, mediaType?: string): TableArtifact {
  return artifactOf(TableArtifact, text, mediaType)
}

async function cellsOf(artifact: TableArtifact): Promise<string[][]> {
  return (await artifact.slice()).map((row) => Object.values(row))
}

function ask(artifact: TableArtifact, key: string, input: object): unknown {
  return (TableArtifact.queries[key]!.answer as (artifact: TableArtifact, input: object) => unknown)(artifact, input)
}

describe('a table has', () => {
  test.each<[string, string, string[], string[][]]>([
    [
      'rows',
      'a,b\n1,2\n3,4\n',
      ['a', 'b'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'a last row without an end',
      'a,b\r\n1,2\r\n3,4',
      ['a', 'b'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['a byte order mark before its names', '\ufeffa,b\n1,2', ['a', 'b'], [['1', '2']]],
    ['a byte order mark before names in quotes', '\ufeff"a, b",c\n1,2', ['a, b', 'c'], [['1', '2']]],
    [
      'cells in quotes',
      'a,b\n"x, y","say ""hi"""\n"",\n',
      ['a', 'b'],
      [
        ['x, y', 'say "hi"'],
        ['', ''],
      ],
    ],
    [
      'line ends within cells',
      'a,b\n"one\ntwo\r\n\nthree",2\r\n3,4\n',
      ['a', 'b'],
      [
        ['one\ntwo\n\nthree', '2'],
        ['3', '4'],
      ],
    ],
    ['line ends within names', '"a\nb",c\n1,2\n', ['a\nb', 'c'], [['1', '2']]],
    ['quotes within cells that have none around them', 'a,b\n5" pipe,x"y"\n', ['a', 'b'], [['5" pipe', 'x"y"']]],
    ['text after a closing quote, as it is written', 'a,b\n"x"y,2\n', ['a', 'b'], [['"x"y', '2']]],
    [
      'lines without a character, which are no rows',
      '\n\na,b\n\n1,2\r\n\r\n3,4\n\n',
      ['a', 'b'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'rows that are too short',
      'a,b,c\n1\n2,3\n',
      ['a', 'b', 'c'],
      [
        ['1', '', ''],
        ['2', '3', ''],
      ],
    ],
    ['a last cell that is empty', 'a,b\n1,\n', ['a', 'b'], [['1', '']]],
    ['names alone', 'a,b', ['a', 'b'], []],
    ['nothing', '', [], []],
    ['a quote that is never closed', 'a,b\n1,"x\n2,3\n', ['a', 'b'], [['1', 'x\n2,3']]],
    ['a quote that is closed by the last character', 'a\n"x"', ['a'], [['x']]],
    ['semicolons where its first line has no comma', 'a;"b,c"\n1,5;2\n', ['a', 'b,c'], [['1,5', '2']]],
    ['tabs where its first line has neither', 'a\tb\n1\t2;3\n', ['a', 'b'], [['1', '2;3']]],
    ['carriage returns within cells', 'a,b\n1\r2,3\n', ['a', 'b'], [['1\r2', '3']]],
  ])('%s', async (_, text, columns, rows) => {
    const artifact = table(text)
    expect(await artifact.columns()).toEqual(columns)
    expect(await artifact.rowCount()).toBe(rows.length)
    expect(await cellsOf(artifact)).toEqual(rows)
    expect(await cellsOf(table(text))).toEqual(rows)
  })

  test('tabs where its media type says so, whatever else is in its names', async () => {
    const artifact = table('a,b\tc\n1\t2\n', 'text/tab-separated-values; charset=utf-8')
    expect(await artifact.slice()).toEqual([{ 'a,b': '1', c: '2' }])
  })

  test('names that differ, whatever the names are', async () => {
    const artifact = table('a,,a,a_2, ,a,column_2,__proto__\n1,2,3,4,5,6,7,8,9\n')
    const columns = await artifact.columns()
    expect(columns).toEqual(['a', 'column_2_2', 'a_3', 'a_2', 'column_5', 'a_4', 'column_2', '__proto__'])
    const [row] = await artifact.slice()
    expect(Object.entries(row!)).toEqual([
      ...columns.map((name, index) => [name, String(index + 1)]),
      ['column_9', '9'],
    ])
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype)
  })

  test('names for cells beyond the last column that are not taken', async () => {
    expect(await table('a,column_3\n1,2,3\n').slice()).toEqual([{ a: '1', column_3: '2', column_3_: '3' }])
  })
})

describe('a table of any cells', () => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', ';', '1', '\t'), maxLength: 8 }),
    fc.constantFrom('', '"', '""', 'x'.repeat(stretch), `${'y'.repeat(stretch - 3)}\n"`),
  )
  const quoted = (text: string, always: boolean): string =>
    always || /[",\n]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text

  test('is what was written', async () => {
    const rows = fc
      .integer({ min: 1, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 12 }))
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.boolean(),
        fc.constantFrom('\n', '\r\n'),
        fc.nat(12),
        fc.nat(5),
        async (written, always, end, start, count) => {
          const width = written[0]?.length ?? 1
          const names = Array.from({ length: width }, (_, index) => `c${index}`)
          const text = [names, ...written]
            .map((row) => row.map((each) => quoted(each, always)).join(',') + end)
            .join('')
          const artifact = table(text)
          const expected = written.map((row) => Object.fromEntries(row.map((value, index) => [names[index], value])))
          // A later page first, and then from the top: both have to find the same rows.
          expect(await artifact.slice(start, start + count)).toEqual(expected.slice(start, start + count))
          expect(await artifact.rowCount()).toBe(written.length)
          expect(await artifact.slice()).toEqual(expected)
          expect(await artifact.slice(start)).toEqual(expected.slice(start))
          expect(await artifact.slice(-2)).toEqual(expected.slice(-2))
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)

  test('is what csv-parse makes of it', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '""', ',', '\n', ',"', '",', '"\n', ' '), maxLength: 40 })
    let compared = 0
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        let rows: string[][]
        try {
          rows = parse(`x,y\n${body}`, { relax_column_count: true, skip_empty_lines: true, record_delimiter: '\n' })
        } catch {
          return // quotes in places where only one of many readings is right
        }
        compared++
        const cells = await cellsOf(table(`x,y\n${body}`))
        const padded = rows.slice(1).map((row) => [...row, '', ''].slice(0, Math.max(2, row.length)))
        expect(cells).toEqual(padded)
      }),
      { numRuns: 3_000 },
    )
    expect(compared).toBeGreaterThan(300)
  }, 60_000)
})

describe('conditions', () => {
  const artifact = table(
    [
      'id,status,path,ok,day',
      '1,200,/a,true,2026-01-02',
      '2,500,/api/b,FALSE,2026-02-01',
      '3,,/api/c,,',
      '4,1e3,/d,yes,2025-12-31',
      '5,-7.5, /e ,true,x',
    ].join('\n'),
  )
  test.each<[Condition, string[]]>([
    [{ column: 'status', operator: 'equals', value: 500 }, ['2']],
    [{ column: 'status', operator: 'equals', value: 1_000 }, ['4']],
    [{ column: 'status', operator: 'equals', value: '1000' }, []],
    [{ column: 'status', operator: 'not_equals', value: 500 }, ['1', '3', '4', '5']],
    [{ column: 'status', operator: '>', value: 300 }, ['2', '4']],
    [{ column: 'status', operator: '>=', value: '500' }, ['2', '4']],
    [{ column: 'status', operator: '<', value: 0 }, ['5']],
    [{ column: 'status', operator: '<=', value: 200 }, ['1', '5']],
    [{ column: 'day', operator: '>=', value: '2026-01-01' }, ['1', '2', '5']],
    [{ column: 'day', operator: '<', value: '2026' }, ['4']],
    [{ column: 'day', operator: '<', value: 3_000 }, []],
    [{ column: 'path', operator: 'contains', value: 'api' }, ['2', '3']],
    [{ column: 'path', operator: 'starts_with', value: '/a' }, ['1', '2', '3']],
    [{ column: 'path', operator: 'ends_with', value: 'b' }, ['2']],
    [{ column: 'path', operator: 'equals', value: ' /e ' }, ['5']],
    [{ column: 'ok', operator: 'equals', value: false }, ['2']],
    [{ column: 'ok', operator: 'equals', value: true }, ['1', '5']],
    [{ column: 'ok', operator: 'in', value: ['yes', true] }, ['1', '4', '5']],
    [{ column: 'status', operator: 'in', value: [200, '500'] }, ['1', '2']],
    [{ column: 'status', operator: 'in', value: [] }, []],
    [{ column: 'status', operator: 'empty' }, ['3']],
    [{ column: 'status', operator: 'not_empty' }, ['1', '2', '4', '5']],
  ])('%o', async (condition, ids) => {
    expect((await artifact.where([condition])).map(({ cells }) => cells['id'])).toEqual(ids)
  })

  test('have to hold all of them, and tell which rows they are', async () => {
    const found = await artifact.where([
      { column: 'path', operator: 'contains', value: '/api' },
      { column: 'status', operator: 'empty' },
    ])
    expect(found).toEqual([{ row: 2, cells: { id: '3', status: '', path: '/api/c', ok: '', day: '' } }])
    expect((await artifact.where([])).map(({ row }) => row)).toEqual([0, 1, 2, 3, 4])
    expect((await artifact.where([], { start: 2, limit: 2 })).map(({ row }) => row)).toEqual([2, 3])
    expect(await artifact.where([], { limit: 0 })).toEqual([])
  })

  test.each<[Condition, RegExp]>([
    [{ column: 'none', operator: 'empty' }, /There is no column "none"\. The table has "id", "status"/],
    [{ column: 'id', operator: 'like' as never, value: 'x' }, /There is no operator "like"/],
    [{ column: 'id', operator: 'equals' }, /needs a text, a number, true or false/],
    [{ column: 'id', operator: 'in', value: 'x' }, /needs an array/],
    [{ column: 'id', operator: 'in', value: [['x']] as never }, /needs texts, numbers/],
    [{ column: 'id', operator: '<', value: null as never }, /needs a text/],
  ])('%o is refused', async (condition, message) => {
    await expect(artifact.where([condition])).rejects.toThrow(message)
    await expect(artifact.where([condition])).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })
})

test('a cell that is nearly a number is compared in no time', async () => {
  const artifact = table(`n\n${'1'.repeat(1_000_000)}x\n${' '.repeat(1_000_000)}1 x\n7`)
  expect((await artifact.where([{ column: 'n', operator: '>', value: 1 }])).map(({ row }) => row)).toEqual([2])
  expect(await artifact.column('n')).toMatchObject({ rows: 3, empty: 0 })
})

describe('a column', () => {
  test('of numbers has a range and a mean', async () => {
    expect(await table('n\n1\n"""\n').column('n')).toMatchObject({ rows: 2, distinct: 2 })
    expect(await table('n,x\n1,\n2.5,\n,\n-3,\n').column('n')).toEqual({
      column: 'n',
      rows: 4,
      empty: 1,
      numbers: { minimum: -3, maximum: 2.5, mean: 0.5 / 3, sum: 0.5 },
      distinct: 3,
      mostFrequent: [
        { value: '1', count: 1 },
        { value: '2.5', count: 1 },
        { value: '-3', count: 1 },
      ],
    })
  })

  test('of texts has the most frequent ones', async () => {
    expect(await table('n\na\nb\na\n').column('n')).toEqual({
      column: 'n',
      rows: 3,
      empty: 0,
      distinct: 2,
      mostFrequent: [
        { value: 'a', count: 2 },
        { value: 'b', count: 1 },
      ],
    })
  })

  test('of very many texts has no list of them', async () => {
    const summary = await table(`n\n${Array.from({ length: 10_001 }, (_, index) => `v${index}`).join('\n')}`).column(
      'n',
    )
    expect(summary).toEqual({ column: 'n', rows: 10_001, empty: 0 })
  })

  test('that is not there is refused', async () => {
    await expect(table('a\n1').column('b')).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })
})

describe('a large table', () => {
  const row = '123,some text,"in quotes, of course",4.5\n'
  const text = `id,text,quoted,number\n${row.repeat(200_000)}`

  test('is read from the top once, and a later page without what stands before it', async () => {
    const reader = new CountingReader(text)
    const artifact = new TableArtifact({ reader })
    expect(await artifact.slice(0, 2)).toHaveLength(2)
    expect(reader.bytesRead).toBeLessThanOrEqual(3 * stretch)
    expect(await artifact.rowCount()).toBe(200_000)
    reader.bytesRead = 0
    expect(await artifact.slice(199_990)).toHaveLength(10)
    expect(await artifact.where([], { start: 100_000, limit: 1 })).toMatchObject([{ row: 100_000 }])
    expect(reader.bytesRead).toBeLessThanOrEqual(8 * stretch)
    reader.bytesRead = 0
    expect(await artifact.rowCount()).toBe(200_000)
    expect(reader.bytesRead).toBe(0)
  })

  test('leaves turns to everybody else', async () => {
    const search = table(text).where([{ column: 'text', operator: 'equals', value: 'none' }])
    expect(await turnsDuring(search)).toBeGreaterThan(2)
    expect(await search).toEqual([])
  })

  test('is given up with the reason of a signal', async () => {
    const signal = AbortSignal.abort(new Error('given up'))
    await expect(table(text).where([{ column: 'id', operator: 'empty' }], { signal })).rejects.toThrow('given up')
  })

  test.each([
    ['a row that is never closed', `a\n"${`${'x'.repeat(99)}\n`.repeat(170_000)}`],
    ['a line that is too long', `a\n${'x'.repeat(16_800_000)}`],
  ])('with %s says so', async (_, broken) => {
    await expect(table(broken).rowCount()).rejects.toThrow(/^The row at line 1 .* more than 16,777,216 characters/)
  })

  test('with a row of too many cells says so', async () => {
    await expect(table(`a\n${','.repeat(16_384)}\n`).slice()).rejects.toThrow('more than 16384 cells')
    await expect(table(`a\n"",${','.repeat(16_384)}\n`).slice()).rejects.toThrow('more than 16384 cells')
  })
})

describe('a model asks', () => {
  const artifact = table(`id,note\n1,short\n2,${'x'.repeat(600)}\n3,last\n`)
  const cut = `${'x'.repeat(500)}…`

  test.each<[string, object, unknown]>([
    [
      'table_columns',
      {},
      [
        { column: 'id', example: '1' },
        { column: 'note', example: 'short' },
      ],
    ],
    ['table_row_count', {}, 3],
    [
      'table_rows',
      { start: 1 },
      [
        { id: '2', note: cut },
        { id: '3', note: 'last' },
      ],
    ],
    ['table_rows', { limit: 1, columns: ['note'] }, [{ note: 'short' }]],
    ['table_rows', { start: 9 }, []],
    [
      'table_where',
      { conditions: [{ column: 'id', operator: '>', value: 1 }], limit: 1 },
      [{ row: 1, cells: { id: '2', note: cut } }],
    ],
    ['table_where', { conditions: [], from_row: 2, columns: ['id'] }, [{ row: 2, cells: { id: '3' } }]],
  ])('%s %o', async (key, input, answer) => {
    expect(await ask(artifact, key, input)).toEqual(answer)
  })

  test('for columns that are not there, and is told which are', async () => {
    await expect(ask(artifact, 'table_rows', { columns: ['x'] })).rejects.toThrow('The table has "id", "note"')
  })
})
