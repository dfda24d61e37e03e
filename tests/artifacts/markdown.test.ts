import fc from 'fast-check'
import { Lexer, marked } from 'marked'
import { MarkdownArtifact, type MarkdownNode } from 'toolwright/artifacts/markdown'
import { afterAll, describe, expect, test } from 'vitest'
import {
  artifactConformance,
  artifactOf,
  bytesOf,
  CountingReader,
  linesOf,
  turnsDuring,
} from '../conformance/artifacts.ts'

artifactConformance('MarkdownArtifact', MarkdownArtifact, {
  inputs: {
    md_frontmatter: [{}],
    md_headings: [{}, { start: 1, limit: 1 }],
    md_sections: [{}, { title: 'a' }],
    md_code_blocks: [{}, { language: 'ts' }],
    md_links: [{}],
    md_images: [{ start: 1 }],
    md_text: [{}, { from_line: 1, to_line: 2 }],
    md_ast: [{}, { limit: 1 }],
  },
})

function markdown(text: string | Uint8Array): MarkdownArtifact {
  return artifactOf(MarkdownArtifact, text)
}

function ask(artifact: MarkdownArtifact, key: string, input: object = {}): unknown {
  return (MarkdownArtifact.queries[key]!.answer as (artifact: MarkdownArtifact, input: object) => unknown)(
    artifact,
    input,
  )
}

const document = `---
title: Guide
tags: [a, b]
---

# One *two* \`three\`

See [the docs](https://example.com "Docs"),
an ![image](pic.png) and <https://auto.example>
or [a reference][r].

Two
===

- item with
  [a link](inner)

  \`\`\`js title
  code()
  \`\`\`
- [x] done

> a quote with
> [another](quoted)

| a | b |
|---|---|
| [cell](table) | e |

\tindented code

### Three

[r]: https://reference.example 'Title'
`

describe.each([
  ['\\n', document],
  ['\\r\\n', document.replaceAll('\n', '\r\n')],
])('a document with %s at the ends of its lines', (_, text) => {
  const artifact = markdown(text)
  const lines = linesOf(bytesOf(text))

  test('has front matter', async () => {
    expect(await artifact.frontMatter()).toEqual({ title: 'Guide', tags: ['a', 'b'] })
  })

  test('has headings of both kinds, at their lines', async () => {
    expect(await artifact.headings()).toEqual([
      { level: 1, text: 'One two three', line: 5 },
      { level: 1, text: 'Two', line: 11 },
      { level: 3, text: 'Three', line: 31 },
    ])
  })

  test('has sections, which cat can read', async () => {
    expect(await artifact.sections()).toEqual([
      { title: 'One two three', level: 1, path: ['One two three'], line: 5, endLine: 11 },
      { title: 'Two', level: 1, path: ['Two'], line: 11, endLine: 34 },
      { title: 'Three', level: 3, path: ['Two', 'Three'], line: 31, endLine: 34 },
    ])
    expect(await artifact.cat(31, 34)).toBe(`### Three\n\n[r]: https://reference.example 'Title'`)
  })

  test('has code blocks, also within lists', async () => {
    expect(await artifact.codeBlocks()).toEqual([
      { language: 'js title', text: 'code()', line: 17, endLine: 20 },
      { text: 'indented code', line: 29, endLine: 30 },
    ])
    expect(lines.slice(17, 20)).toEqual(['  ```js title', '  code()', '  ```'])
  })

  test('has links and images, each at its line', async () => {
    const links = await artifact.links()
    expect(links).toEqual([
      { text: 'the docs', url: 'https://example.com', title: 'Docs', line: 7 },
      { text: 'https://auto.example', url: 'https://auto.example', line: 8 },
      { text: 'a reference', url: 'https://reference.example', title: 'Title', line: 9 },
      { text: 'a link', url: 'inner', line: 15 },
      { text: 'another', url: 'quoted', line: 23 },
      { text: 'cell', url: 'table', line: 27 },
    ])
    for (const { text: said, line } of links) expect(lines[line]).toContain(said)
    expect(await artifact.images()).toEqual([{ alt: 'image', url: 'pic.png', line: 8 }])
  })

  test('says what it says without marks', async () => {
    expect(await artifact.text(5, 20)).toBe(
      'One two three\n\nSee the docs,\nan image and https://auto.example\nor a reference.\n\nTwo\n\nitem with\na link\n\ncode()',
    )
    expect(await artifact.text(20, 21)).toBe('done')
    expect(await artifact.text(100)).toBe('')
  })

  test('is made of blocks within blocks', async () => {
    const blocks = await artifact.ast()
    expect(blocks.map(({ type, line, endLine }) => `${type} ${line}-${endLine}`)).toEqual([
      'heading 5-6',
      'paragraph 7-10',
      'heading 11-13',
      'list 14-21',
      'blockquote 22-24',
      'table 25-28',
      'code 29-30',
      'heading 31-32',
    ])
    expect(blocks[3]).toMatchObject({
      ordered: false,
      children: [{ type: 'item' }, { type: 'item', checked: true, children: [{ text: 'done' }] }],
    })
  })
})

describe('front matter', () => {
  test.each<[string, string, unknown]>([
    ['that is not there', '# Title\n', undefined],
    ['of a document without anything', '', undefined],
    ['that ends with dots', '---\na: 1\n...\n# T', { a: 1 }],
    ['with spaces behind its marks', '---  \na: 1\n--- \n', { a: 1 }],
    ['that is empty', '---\n---\n# T', null],
    ['that never ends', '---\na: 1\n', undefined],
    ['that begins too late', '\n---\na: 1\n---\n', undefined],
    ['after a byte order mark', '\ufeff---\na: 1\n---\n', { a: 1 }],
    ['that is too long', `---\n${'a: 1\n'.repeat(2_001)}---\n`, undefined],
    ['with a line that is too long', `---\na: ${'x'.repeat(70_000)}\n---\n`, undefined],
    ['with a key that is called __proto__', '---\n__proto__: { x: 1 }\n---\n', JSON.parse('{"__proto__":{"x":1}}')],
    ['with a tag that would make something', '---\na: !!js/function "() => 1"\n---\n', { a: '() => 1' }],
  ])('%s', async (_, text, data) => {
    const found = await markdown(text).frontMatter()
    expect(JSON.stringify(found)).toBe(JSON.stringify(data))
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test.each([
    ['that is no YAML', '---\na: [\n---\n'],
    ['that repeats a key', '---\na: 1\na: 2\n---\n'],
    [
      'that grows with every name',
      `---\na: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.replaceAll(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}---\n`,
    ],
    ['that is nested deeper than the stack goes', `---\na: ${'['.repeat(30_000)}\n---\n`],
  ])('%s is refused', async (_, text) => {
    await expect(markdown(text).frontMatter()).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  test('is read without the rest, and left out of the rest', async () => {
    const reader = new CountingReader(`---\ntitle: x\n---\n${'text\n'.repeat(1_000_000)}`)
    expect(await new MarkdownArtifact({ reader }).frontMatter()).toEqual({ title: 'x' })
    expect(reader.bytesRead).toBeLessThanOrEqual(262_144)
    expect(await markdown('---\n# no heading\n---\n# Title').headings()).toEqual([{ level: 1, text: 'Title', line: 3 }])
  })
})

describe('what only looks like something else', () => {
  test.each<[string, string, string[]]>([
    ['a heading within a fence', '```\n# no\n```\n# yes', ['yes']],
    ['a heading within a fence that never ends', '~~~\n# no', []],
    ['a heading within a comment', '<!--\n# no\n-->\n\n# yes', ['yes']],
    ['a sign that is no heading', '#no\n\n####### no\n\n# yes #', ['yes']],
    ['a heading in a quote or a list', '> # no\n\n- # no\n\n# yes', ['yes']],
    ['a carriage return within a line', 'a\r# no\n\n# yes', ['yes']],
    ['a heading with a link', '# [yes](url) ![alt](x)', ['yes alt']],
    ['an empty heading', '#\n\n# yes', ['', 'yes']],
  ])('%s', async (_, text, titles) => {
    const headings = await markdown(text).headings()
    expect(headings.map((heading) => heading.text)).toEqual(titles)
    for (const { line, text: title } of headings) expect(linesOf(bytesOf(text))[line]).toContain(title.split(' ')[0])
  })
})

describe('a document in pieces', () => {
  const pieces = fc.constantFrom(
    ...'# Title§Title\n---§text§more *text*§\n§\n\n§- item§1. item§  deeper§    code§\tcode§> quote§> - item§```§~~~ js§<div>§</div>'.split(
      '§',
    ),
    ...'<!-- a§-->§| a | b |\n|---|---|§| 1 | 2 |§[r]: url§***§- [ ] todo§   text§<b>text</b>§line  §\\§é€😀'.split(
      '§',
    ),
    'word '.repeat(300),
  )

  test('is made of what it would be made of at once, at the same lines', async () => {
    const text = fc.array(fc.oneof({ weight: 3, arbitrary: pieces }, { weight: 1, arbitrary: fc.constant('') }), {
      minLength: 1_500,
      maxLength: 3_000,
    })
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const source = parts.map((part) => `${part}\n`).join('')
        let line = 0
        const expected: string[] = []
        for (const { type, raw } of new Lexer().blockTokens(source)) {
          if (type !== 'space' && type !== 'def') expected.push(`${type} ${line}`)
          line += raw.split('\n').length - 1
        }
        const blocks = await markdown(source).ast()
        expect(blocks.map((block) => `${block.type} ${block.line}`)).toEqual(expected)
        const all = linesOf(bytesOf(source))
        for (const block of blocks) expectInside(block, all)
      }),
      { numRuns: 40 },
    )
  }, 120_000)

  /** Every block begins at a line that has something on it, within the block that it is in. */
  function expectInside(block: MarkdownNode, lines: readonly string[]): void {
    expect(block.endLine).toBeGreaterThan(block.line)
    expect(block.endLine).toBeLessThanOrEqual(lines.length)
    if (block.type !== 'html') expect(lines[block.line]).toMatch(/\S/)
    let last = block.line
    for (const child of block.children ?? []) {
      expect(child.line).toBeGreaterThanOrEqual(last)
      expect(child.endLine).toBeLessThanOrEqual(block.endLine)
      last = child.line
      expectInside(child, lines)
    }
  }

  test('leaves turns to everybody else', async () => {
    const text = 'A [link](url) and *text*.\n\n'.repeat(20_000)
    const asked = markdown(text).links()
    expect(await turnsDuring(asked)).toBeGreaterThan(10)
    expect(await asked).toHaveLength(20_000)
  })
})

describe('a document that was made to take long', () => {
  test.each<[string, string, 'parsed' | 'refused']>([
    ['quotes within quotes', `${'> '.repeat(5_000)}a`, 'refused'],
    ['lists within lists', `${'- '.repeat(5_000)}a`, 'refused'],
    [
      'deeper and deeper items',
      Array.from({ length: 2_000 }, (_, index) => `${' '.repeat(index * 2)}- a`).join('\n'),
      'refused',
    ],
    ['a very long list', '- a\n'.repeat(100_000), 'refused'],
    ['a very long code block', `\`\`\`\n${'code\n'.repeat(200_000)}\`\`\`\n`, 'parsed'],
    ['a code block that is too long', `\`\`\`\n${'code\n'.repeat(500_000)}\`\`\`\n`, 'refused'],
    ['blank lines in a code block', `\`\`\`\n${'\n'.repeat(500_000)}x\n\`\`\`\n`, 'parsed'],
    ['blank lines alone', '\n'.repeat(1_000_000), 'parsed'],
    ['marks that may begin something', '_a'.repeat(50_000), 'parsed'],
    ['stars that may begin something', 'a**b'.repeat(20_000), 'parsed'],
    ['brackets', '['.repeat(50_000), 'parsed'],
    ['images in images', '![[]()'.repeat(20_000), 'parsed'],
    ['addresses', `${'a.'.repeat(50_000)}@`, 'parsed'],
    ['backticks', Array.from({ length: 400 }, (_, index) => '`'.repeat(index + 1)).join(' '), 'parsed'],
    ['emphasis within emphasis', '*a **b '.repeat(10_000), 'parsed'],
    ['a very long table', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(200_000)}`, 'refused'],
    ['a table of 20,000 rows', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(20_000)}`, 'parsed'],
    ['an item of very many lines', `- a\n${'  b\n'.repeat(10_000)}`, 'refused'],
    ['an item of many lines', `- a\n${'  more words of it\n'.repeat(1_000)}`, 'parsed'],
    ['quotes within 500 quotes', `${'> '.repeat(500)}a`, 'parsed'],
  ])(
    '%s is %3$s',
    async (_, text, outcome) => {
      const artifact = markdown(text)
      const found = await Promise.all([artifact.ast(), artifact.links(), artifact.text()]).catch(
        (error: unknown) => error,
      )
      if (outcome === 'parsed') expect(found).toHaveLength(3)
      else expect(found).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('Ask about its lines') })
    },
    30_000,
  )

  const brackets = '['.repeat(1_000_000)
  const table = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(200_000)}`
  test.each<[string, number, (artifact: MarkdownArtifact) => Promise<unknown>, string]>([
    ['the links of brackets', 4, (artifact) => artifact.links(), brackets],
    ['the images of brackets', 4, (artifact) => artifact.images(), brackets],
    ['the text of brackets', 4, (artifact) => artifact.text(), brackets],
    ['the text of a heading', 4, (artifact) => artifact.headings(), `# ${brackets}`],
    ['the text of one paragraph', 4, (artifact) => artifact.text(), 'many words\n'.repeat(90_000)],
    ['a table that is read again in larger pieces', 1, (artifact) => artifact.ast(), table],
  ])('leaves turns to everybody else within one block: %s', async (_, turns, question, text) => {
    const artifact = markdown(text)
    await artifact.lineCount()
    expect(await turnsDuring(question(artifact).catch(() => {}))).toBeGreaterThan(turns)
  })

  test('is refused before it is read where it is too large', async () => {
    const reader = { byteLength: 16_777_217, read: () => Promise.reject(new Error('was read')) }
    await expect(new MarkdownArtifact({ reader }).headings()).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    class Small extends MarkdownArtifact {
      static override readonly largest = 3
    }
    await expect(artifactOf(Small, '# a\n').headings()).rejects.toThrow('more than the 3 that are parsed')
  })
})

describe('the host', () => {
  afterAll(() => marked.setOptions(marked.getDefaults()))

  test('may change marked for itself, and changes nothing here', async () => {
    marked.use({
      extensions: [
        {
          name: 'heading',
          level: 'block',
          tokenizer: () => {
            throw new Error('was asked')
          },
        },
      ],
      walkTokens: () => {
        throw new Error('was asked')
      },
    })
    marked.use({
      gfm: false,
      pedantic: true,
      tokenizer: {
        heading: () => {
          throw new Error('was asked')
        },
      },
    })
    expect(await markdown('# a\n\n| b |\n|---|\n').ast()).toMatchObject([{ type: 'heading' }, { type: 'table' }])
  })

  test('that cannot read now can ask again later', async () => {
    let isDown = true
    const bytes = new TextEncoder().encode('# a')
    const reader = { byteLength: 3, read: () => (isDown ? Promise.reject(new Error('down')) : bytes) }
    const artifact = new MarkdownArtifact({ reader })
    await expect(artifact.headings()).rejects.toThrow('down')
    isDown = false
    expect(await artifact.headings()).toHaveLength(1)
  })
})

describe('a model asks', () => {
  const artifact = markdown(document)

  test.each<[string, object, unknown]>([
    ['md_frontmatter', {}, { title: 'Guide', tags: ['a', 'b'] }],
    ['md_headings', { start: 1, limit: 1 }, [{ level: 1, text: 'Two', line: 11 }]],
    ['md_sections', { start: 2 }, [{ path: 'Two > Three', line: 31, endLine: 34 }]],
    ['md_sections', { title: 'two > three' }, `### Three\n\n[r]: https://reference.example 'Title'`],
    ['md_sections', { title: 'Three' }, `### Three\n\n[r]: https://reference.example 'Title'`],
    ['md_sections', { title: 'None' }, 'There is no section "None". Ask without a title for the list of all.'],
    ['md_code_blocks', { language: 'JS' }, [{ language: 'js title', text: 'code()', line: 17, endLine: 20 }]],
    ['md_links', { limit: 1 }, [{ text: 'the docs', url: 'https://example.com', title: 'Docs', line: 7 }]],
    ['md_images', {}, [{ alt: 'image', url: 'pic.png', line: 8 }]],
    ['md_text', { from_line: 11, to_line: 12 }, 'Two'],
    ['md_ast', { start: 3, limit: 1 }, [{ type: 'list', line: 14, endLine: 21, ordered: false, children: 2 }]],
  ])('%s %o', async (key, input, answer) => {
    expect(await ask(artifact, key, input)).toEqual(answer)
  })

  test('for code that is too long to be shown, and sees where it is', async () => {
    const long = markdown(`\`\`\`\n${'x'.repeat(3_000)}\n\`\`\``)
    expect(await ask(long, 'md_code_blocks')).toEqual([{ text: `${'x'.repeat(2_000)}…`, line: 0, endLine: 3 }])
  })
})
