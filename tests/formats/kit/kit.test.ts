import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { canonicalize, tool, type Format } from 'toolwright'
import * as kit from 'toolwright/formats/kit'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import { roots } from '../dialects/schemas.ts'
import { acme } from './acme.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const code = 'E_INVALID_CONFIGURATION'

describe('the kit of formats', () => {
  it('exports these values and no other', () => {
    expect(Object.keys(kit).toSorted()).toMatchInlineSnapshot(`
      [
        "answerId",
        "answerName",
        "answers",
        "callersOf",
        "definer",
        "enveloped",
        "flagged",
        "isObject",
        "list",
        "programOf",
        "programText",
        "read",
        "render",
        "renderText",
        "requireOptions",
        "requireOwn",
        "schemasOf",
        "shortened",
        "soleJson",
        "text",
        "toolCall",
        "unanswered",
        "withExamples",
        "wordsOf",
      ]
    `)
  })

  it('has nothing that no format of this package uses', () => {
    const files = globSync('src/formats/[!_]*.ts', { cwd: root })
    const used = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
    const names = Object.keys(kit).filter((name) => !new RegExp(`\\b${name}\\b`).test(used))
    expect(names).toEqual([])
  })
})

describe('a format of another package', () => {
  const source = readFileSync(join(import.meta.dirname, 'acme.ts'), 'utf8')

  it('has at most 60 lines of code, and imports public entries alone', () => {
    const lines = source.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*\*.*\*\/$)/.test(line))
    expect(lines.length).toBeLessThanOrEqual(60)
    const imported = [...source.matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name)
    expect(imported.length).toBeGreaterThan(0)
    const open = ['toolwright', 'toolwright/extension', 'toolwright/formats/kit']
    expect(imported.filter((name = '') => !open.includes(name))).toEqual([])
  })

  it('refuses an option that it has not, with the names of its own', () => {
    expect(() => acme({ pendng: 'omit' } as never)).toThrow(expect.objectContaining({ code }))
    expect(() => acme({ pendng: 'omit' } as never)).toThrow(/^`acme` has no option "pendng"; its options are /)
  })

  it('says what another provider’s message is, and reads its own although it looks like another', () => {
    const format: Format = acme()
    expect(() => format.calls({ role: 'assistant', tool_calls: [{}] })).toThrow(/Use the format openai\.$/)
    expect(() => format.calls({ speaker: 'acme' })).toThrow(/an object with "speaker"\. Pass a turn of Acme\.$/)
    expect(format.calls({ speaker: 'acme', parts: [{ type: 'tool_use' }] })).toEqual([])
  })
})

describe('the rules of a dialect', () => {
  const make = (dialect: unknown) => () =>
    kit.schemasOf({ dialect: dialect as never, optionsOf: () => undefined, replaces: () => false }, {})

  it.each<[title: string, dialect: unknown, words: RegExp]>([
    ['the name of no provider', 'cohere', /^The kit of formats has no dialect "cohere"; its dialects are openai,/],
    ['a name that every object has', 'constructor', /has no dialect "constructor"/],
    ['null', null, /A dialect is the name of a provider, or an object of rules\.$/],
    ['a list', ['format'], /A dialect is the name of a provider, or an object of rules\.$/],
    ['a function', () => ({}), /has no dialect /],
    ['a rule that there is not', { keyword: [] }, /has no rule "keyword"; its rules are keywords, /],
    ['a keyword that no provider takes', { keywords: ['not'] }, /`keywords` .*, maxProperties.*; got "not"\.$/],
    ['keywords in one text', { keywords: 'format' }, /got "format"\.$/],
    ['two keywords in one', { keywords: ['format pattern'] }, /got "format pattern"\.$/],
    ['a keyword that is no text', { keywords: [undefined] }, /got a value of type undefined\.$/],
    ['a format with a space', { formats: ['date time'] }, /`formats` .* names without spaces; got "date time"\.$/],
    ['a type whose values are objects', { enums: ['object'] }, /`enums` .*; got "object"\.$/],
  ])('refuse %s', (_, dialect, words) => {
    expect(make(dialect)).toThrow(expect.objectContaining({ code }))
    expect(make(dialect)).toThrow(words)
  })

  it.each(['openai', 'anthropic', 'gemini', { keywords: [] }, {}, undefined])('may be %j', (dialect) => {
    expect(make(dialect)).not.toThrow()
  })

  const all = [
    'title',
    'default',
    'const',
    'format',
    'pattern',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
  ] as const
  const more = ['multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'additionalProperties', 'minProperties'] as const

  it.each<[title: string, dialect: kit.DialectRules]>([
    ['no keyword beside the usual ones', {}],
    ['many keywords', { keywords: [...all, ...more], formats: ['date'], enums: ['null', 'string', 'integer'] }],
  ])('with %s lower any schema, and give its values back as they were', (_, dialect) => {
    const { lift, plansOf } = kit.schemasOf({ dialect, optionsOf: () => undefined, replaces: () => false }, {})
    let count = 0
    fc.assert(
      fc.property(roots, ([inputSchema, value]) => {
        const used = tool({ name: 'used', description: 'x', inputSchema, handler: () => 1 })
        const plan = plansOf([used]).get(used)
        const args = plan?.sink === undefined ? value : plan.sink(value as kit.Fields)
        const [call] = lift([{ name: 'used', args }], [used])
        expect(canonicalize(call?.args)).toBe(canonicalize(value))
        if (plan?.sink !== undefined) count++
      }),
    )
    expect(count).toBeGreaterThan(0)
  })
})
