import { describe, expect, it } from 'vitest'
import { stemOf, stemsIn } from '../../src/discovery/_stems.ts'
import { readQuery } from '../../src/discovery/_query.ts'
import { deedOf, kinOf } from '../../src/discovery/_words.ts'

describe('a stem', () => {
  it.each([
    ['repositories', 'repository'],
    ['issues', 'issue'],
    ['branches', 'branch'],
    ['merging', 'merge'],
    ['cancelled', 'cancel'],
    ['stopped', 'stop'],
    ['deletion', 'delete'],
    ['creation', 'create'],
    ['modified', 'modify'],
    ['organisation', 'organization'],
    ['sent', 'send'],
    ['paid', 'pay'],
    ['written', 'writing'],
    ['people', 'persons'],
  ])('of %s is that of %s', (one, other) => {
    expect(stemOf(one)).toBe(stemOf(other))
  })

  it.each([
    ['status', 'stat'],
    ['analysis', 'analyst'],
    ['settings', 'set'],
    ['string', 'str'],
  ])('of %s is not that of %s', (one, other) => {
    expect(stemOf(one)).not.toBe(stemOf(other))
  })

  it.each(['Straße', 'ticket²', 'файлы', 'x', ''])('of %j is the word itself', (word) => {
    expect(stemOf(word)).toBe(word)
  })
})

describe('the words of a text', () => {
  it('are parted by case, signs and digits that begin a word', () => {
    expect(stemsIn('getPullRequest send_mail re-run HTTP2')).toEqual([
      'get',
      'pul',
      'request',
      'send',
      'mail',
      'rerun',
      'http2',
    ])
  })

  it('are the same in a text that has other letters too', () => {
    const plain = stemsIn('getPullRequest send_mail')
    expect(stemsIn('getPullRequest send_mail é').slice(0, -1)).toEqual(plain)
  })

  it('of languages that put no space between them are pairs of characters', () => {
    expect(stemsIn('請求書を送る')).toEqual(['請求', '求書', '書を', 'を送', '送る'])
    expect(stemsIn('猫')).toEqual(['猫'])
  })

  it('of other languages are whole', () => {
    expect(stemsIn('Rechnungen versenden — отправить счёт')).toEqual(
      ['rechnungen', 'versenden', 'отправить', 'счёт'].map(stemOf),
    )
  })

  it('are no keys of forty characters and more', () => {
    expect(stemsIn(`token ${'a1'.repeat(40)}`)).toEqual(['token'])
  })

  it('are read from the beginning of the text alone', () => {
    expect(stemsIn(`first ${'x '.repeat(10_000)} last`)).not.toContain('last')
  })
})

describe('a query', () => {
  it.each([
    ['list open issues', 'read'],
    ['who can push here', 'read'],
    ['deploy keys of a repository', 'read'],
    ['open pull requests of a repository', 'read'],
    ['open orders waiting in the shop', 'read'],
    ['orders awaiting payment', 'read'],
    ['orders signed by the boss', 'read'],
    ['cancel orders waiting in the shop', 'write'],
    ['open a pull request', undefined],
    ['create a pull request', 'write'],
    ['please could you add a label', 'write'],
    ['star a gist', 'write'],
    ['get rid of a label', 'remove'],
    ['how do I delete a branch', 'remove'],
    ['invoice', undefined],
  ])('%j asks for what %s', (query, deed) => {
    expect(readQuery(query).deed).toBe(deed)
  })

  it.each(["what's", 'what’s'])('that begins with %s is one that begins with "what is"', (start) => {
    const { words, alike } = readQuery(`${start} going on`)
    expect([words, alike]).toEqual(Object.values(readQuery('what is going on')).slice(0, 2))
    expect(alike.size).toBeGreaterThan(0)
  })

  it("keeps what's whose it is", () => {
    expect([...readQuery("the customer's orders").words.keys()]).toEqual(['customer', 'order', 'list'].map(stemOf))
  })

  it('that asks who asks a little for persons', () => {
    expect(readQuery('tell me who signed it').words.get('who')).toBeLessThan(1)
    expect(kinOf('who').has('user')).toBe(true)
    expect(readQuery('the whole order').words.has('who')).toBe(false)
  })

  it('that names many things without a verb asks for a list', () => {
    expect(readQuery('labels of an issue').words.get('list')).toBeLessThan(1)
    expect(readQuery('label of an issue').words.has('list')).toBe(false)
  })

  it('has each word once, and words that mean the same count less beside each other', () => {
    const { words } = readQuery('make a new make label')
    expect([...words.keys()]).toEqual(['make', 'new', 'label'])
    expect(words.get('new')).toBeLessThan(words.get('make') ?? 0)
  })

  it('has at most 32 words, however long it is', () => {
    const query = Array.from({ length: 200_000 }, (_, index) => `word${index}x`).join(' ')
    expect(readQuery(query).words.size).toBeLessThanOrEqual(33)
  })

  it.each(['', ' ', '\u0000', '__proto__', 'constructor toString', '((((', '\ud800', '💥'.repeat(2_000)])(
    '%j can be read',
    (query) => {
      expect(() => readQuery(query)).not.toThrow()
    },
  )
})

describe('words that mean much the same', () => {
  it('know each other', () => {
    for (const word of ['create', 'remove', 'list', 'repo'].map(stemOf)) {
      expect(kinOf(word).size).toBeGreaterThan(0)
      const family = [...kinOf(word)].filter(([, share]) => share === 0.8)
      for (const [other] of family) expect(kinOf(other).get(word)).toBe(0.8)
    }
  })

  it('are less sure if one of them is broader, in one direction alone', () => {
    expect(kinOf('snippet').get('gist')).toBeLessThan(0.8)
    expect(kinOf('gist').has('snippet')).toBe(false)
  })

  it('are no members of objects', () => {
    expect(kinOf('constructor').size).toBe(0)
    expect(deedOf('__proto__')).toBeUndefined()
  })
})

describe('a phrase', () => {
  it.each([
    ['get rid of a label', 'delet'],
    ['turn the alerts off', 'disabl'],
    ['let her know about it', 'notify'],
    ['hand it over to a colleague', 'transfer'],
    ['do the build again', 'rerun'],
    ['read notes.txt', 'file'],
    ['untag a ticket', 'remov'],
  ])('in %j is asked for as %s', (query, word) => {
    expect(readQuery(query).words.get(word)).toBeGreaterThan(0)
  })

  it('of words that tell something gives each of them what it means', () => {
    const { alike } = readQuery('connect a build machine')
    expect(alike.get('build')?.has('runner')).toBe(true)
    expect(alike.get('machin')?.has('runner')).toBe(true)
  })

  it('of words that tell nothing is a word of the query', () => {
    const { words, alike } = readQuery('who can enter')
    expect(words.has('who can')).toBe(true)
    expect(alike.get('who can')?.size).toBeGreaterThan(0)
  })

  it('is the longest that stands there', () => {
    expect([...readQuery('who am i').words.keys()]).toEqual([...readQuery('get authenticated user').words.keys()])
  })
})
