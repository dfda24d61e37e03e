import { content, createExecutor, json, TextArtifact } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { redact, secretPatterns, type RedactOptions } from 'toolwright/middleware/redact'
import { truncate } from 'toolwright/middleware/truncate'
import { describe, expect, test } from 'vitest'
import { middlewareConformance, runTool, testTool } from '../conformance/middleware.ts'

middlewareConformance('redact', () => redact())

async function masked(value: unknown, options?: RedactOptions): Promise<string | undefined> {
  const { artifact, error } = await runTool([redact(options)], () => value)
  return error?.message ?? artifact?.asString()
}

describe('redact', () => {
  // Put together, so that nobody takes them for real ones.
  const aws = ['AKIA', 'ABCDEFGHIJ123456'].join('')
  const github = `ghp_${'a1B2'.repeat(9)}`
  const key = ['sk', 'proj', 'abcdefghij0123456789'].join('-')
  const token = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.')

  test.each([
    ['password=hunter2', 'password=***'],
    ['Password: hunter2 and more', 'Password: *** and more'],
    ['password=a,b;c\\d&user=me', 'password=***&user=me'],
    ['DB_PASSWORD=x\nnext=1', 'DB_PASSWORD=***\nnext=1'],
    ['{"password": "two words, \\" and more", "b": 1}', '{"password": "***", "b": 1}'],
    ["{'api_key':'x y'}", "{'api_key':'***'}"],
    ['"{\\"password\\":\\"x y\\",\\"b\\":1}"', '"{\\"password\\":\\"***\\",\\"b\\":1}"'],
    ['aws_secret_access_key = abc/def+ghi', 'aws_secret_access_key = ***'],
    ['access_token=abc&refresh-token=def', 'access_token=***&refresh-token=***'],
    ['Authorization: Bearer abcdefghij0123456789', 'Authorization: Bearer ***'],
    ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic ***'],
    ['postgres://me:s3cret@host/db', 'postgres://me:***@host/db'],
    [`key ${aws}.`, 'key ***.'],
    [`remote https://${github}@github.com`, 'remote https://***@github.com'],
    [`OPENAI ${key}`, 'OPENAI ***'],
    [`a ${token} b`, 'a *** b'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nrest', '***\nrest'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,A1\n\nMIIE\n-----END RSA PRIVATE KEY-----\nrest',
      '***\nrest',
    ],
    [
      '-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: a-b\n\nlQdG\n=a1B2\n-----END PGP PRIVATE KEY BLOCK-----\nrest',
      '***\nrest',
    ],
    ['-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQdG', '***'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----BEGIN CERTIFICATE-----', '***-----BEGIN CERTIFICATE-----'],
  ])('masks %j', async (text, expected) => {
    expect(await masked(text)).toBe(expected)
  })

  test.each([
    'the password is required',
    'bearer of bad news',
    'https://host:8080/path?to=me@example.com',
    'basic understanding of tokens',
    'task-force-of-the-twenty-first-century',
    'nextPageToken: abc',
    'a passage = b',
    '-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQGN\n-----END PGP PUBLIC KEY BLOCK-----',
  ])('leaves %j alone', async (text) => {
    expect(await masked(text)).toBe(text)
  })

  test('masks strings wherever they stand in a JSON value', async () => {
    const value = { stdout: 'password=x', list: ['ok', { deep: ['token Bearer abcdefghij0123456789'] }], count: 1 }
    expect(JSON.parse((await masked(value)) ?? '')).toEqual({
      stdout: 'password=***',
      list: ['ok', { deep: ['token Bearer ***'] }],
      count: 1,
    })
  })

  test('masks members by their names', async () => {
    const value = { user: 'me', password: 'x', nested: [{ apiKey: 'y', client_secret: 'z' }], passwordHint: 'a dog' }
    expect(JSON.parse((await masked(value)) ?? '')).toEqual({
      user: 'me',
      password: '***',
      nested: [{ apiKey: '***', client_secret: '***' }],
      passwordHint: 'a dog',
    })
    expect(await masked({ pin: 'x' }, { names: [/^pin$/] })).toBe('{"pin":"***"}')
    expect(await masked({ password: 'x' }, { names: [] })).toBe('{"password":"x"}')
  })

  test('masks marked values, and they stay what they are', async () => {
    const blocks = content([{ type: 'resource', resource: { uri: 'file:///a', text: 'password=x' } }])
    const result = await runTool([redact()], () => blocks)
    expect(result.content).toEqual([{ type: 'resource', resource: { uri: 'file:///a', text: 'password=***' } }])
    expect(await runTool([redact()], () => json([{ type: 'text', text: 'password=x' }]))).toMatchObject({
      content: [{ type: 'json', data: [{ type: 'text', text: 'password=***' }] }],
    })
  })

  test('looks at what is not plain as the JSON of it', async () => {
    class Row {
      readonly id = 1
      readonly note = 'password=x'
    }
    class Secret {
      toJSON(): unknown {
        return { note: 'password=x' }
      }
    }
    expect(await masked({ row: new Row(), at: new Date(0) })).toBe(
      '{"row":{"id":1,"note":"password=***"},"at":"1970-01-01T00:00:00.000Z"}',
    )
    expect(await masked(new Secret())).toBe('{"note":"password=***"}')
    expect(await masked(new URL('https://me:pass@host/'))).toBe('"https://me:***@host/"')
  })

  test('looks at an object that gives itself as its JSON', async () => {
    class Account {
      readonly password = 'x'
      toJSON(): unknown {
        return this
      }
    }
    const own = { password: 'x', toJSON: (): unknown => own }
    const other = { password: 'x', toJSON: () => 'not asked' }
    for (const value of [new Account(), own, { toJSON: () => other }]) {
      expect(await masked(value)).toBe('{"password":"***"}')
      expect(await masked([value])).toBe('[{"password":"***"}]')
    }
    expect(await masked({ toJSON: 1, password: 'x' })).toBe('{"toJSON":1,"password":"***"}')
  })

  test('takes nothing for a stream that only has a member of the name', async () => {
    expect(await masked({ getReader: 1, password: 'x' })).toBe('{"getReader":1,"password":"***"}')
  })

  test('sees all of a text where it is mounted after truncate', async () => {
    const text = `${'x'.repeat(10)} ${github} ${'x'.repeat(100)}`
    const cut = truncate({ limit: 100, keep: 40 })
    const { artifact } = await runTool([cut, redact()], () => text)
    expect(await artifact?.asString()).toMatch(/^x{10} \*\*\* x/)
  })

  test('changes nothing that the handler holds', async () => {
    const own = Object.freeze({ list: Object.freeze(['password=x']), same: Object.freeze({ a: 1 }) })
    expect(await masked(own)).toBe('{"list":["password=***"],"same":{"a":1}}')
    expect(own.list).toEqual(['password=x'])
  })

  test('hands on the very object where there is nothing to mask', async () => {
    const own = { a: ['b', { c: 'd' }], at: new Date(0) }
    const seen: unknown[] = []
    const outer = {
      middleware: [
        async (_call: unknown, _context: unknown, next: () => Promise<unknown>) => {
          seen.push(await next())
          return 'done'
        },
      ],
    }
    await runTool([outer, redact()], () => own)
    expect(seen[0]).toBe(own)
  })

  test('looks into no bytes, streams and artifacts', async () => {
    const text = 'password=x'
    const bytes = new TextEncoder().encode(text)
    const reader = { byteLength: bytes.byteLength, read: (start: number, end: number) => bytes.subarray(start, end) }
    const patterns = [...secretPatterns, /artifact_\w+|text/]
    for (const value of [bytes, new Blob([text]).stream(), new TextArtifact({ reader })]) {
      expect(await masked(value, { patterns })).toBe(text)
    }
  })

  test('a pattern masks everything it matches, whatever its flags and its `lastIndex`', async () => {
    for (const flags of ['', 'g', 'y', 'gy', 'gi']) {
      const pattern = new RegExp('secret', flags)
      pattern.lastIndex = 3
      const executor = createExecutor({
        tools: [testTool(() => 'a secret, a secret')],
        use: [redact({ patterns: [pattern] })],
      })
      for (let count = 0; count < 2; count++) {
        const { artifact } = await executor.execute({ name: 'work' })
        expect(await artifact?.asString()).toBe('a ***, a ***')
      }
      expect(pattern.lastIndex).toBe(3)
    }
  })

  test('a replacement stands for itself', async () => {
    expect(await masked('password=x', { replacement: "$&$'[gone]" })).toBe("password=$&$'[gone]")
    expect(await masked('customer-123', { patterns: [...secretPatterns, /customer-\d+/] })).toBe('***')
  })

  test('walks what is shared once, and leaves a circle to the kernel', async () => {
    let value: unknown = 'password=x'
    for (let depth = 0; depth < 18; depth++) value = [value, value]
    const text = (await masked(value)) ?? ''
    expect(text).not.toContain('password=x')
    const circle: unknown[] = ['password=x']
    circle.push(circle)
    expect(await masked(circle)).not.toContain('password=x')
  })

  test.each([
    'password=',
    'password= ',
    'password="',
    'password="\\',
    'password="a\\',
    "api_key='\\",
    'eyJ-',
    'eyJabcdefgh.',
    '-----BEGIN PRIVATE KEY-----a',
    '-----BEGIN PRIVATE KEY-----a-',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\n-',
    '-----BEGIN PRIVATE KEY-----' + 'a-'.repeat(10_000),
    '-',
    '----',
    '://a:',
    '://a:b',
    'bearer ',
    'authorization: basic ',
    ' ',
    '\\',
    'secret_access_',
  ])('is done with a long text soon, also with one of %j', { timeout: 60_000 }, async (piece) => {
    // A pattern whose time is quadratic would take hours.
    const long = piece.repeat(Math.ceil(1_000_000 / piece.length))
    for (const before of ['', 'password="', '://', 'eyJabcdefgh.']) {
      expect(await runTool([redact()], () => before + long)).toMatchObject({ status: 'ok' })
    }
  })

  test.each([
    ['a pattern that is text', { patterns: ['password'] }],
    ['one pattern', { patterns: /password/ }],
    ['a replacement that is no text', { replacement: null }],
    ['an option that is misspelt', { pattern: [] }],
    ['nothing', null],
  ])('refuses %s', (_, options) => {
    expect(() => redact(options as never)).toThrow(InvalidConfigurationError)
  })
})
