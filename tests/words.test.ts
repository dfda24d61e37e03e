import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

// One word for each fact: `src/README.md` has them. An old one comes back by habit, so each is looked for by itself.

const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', 'src', 'validators', 'tests', 'bench', '.ci', '*.md', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:ts|tsx|mts|mjs|js|md|html|css)$|^\.ci\//.test(file))
  // The first has old names beside new ones, the second has the old words to look for.
  .filter((file) => file !== 'CHANGELOG.md' && file !== 'tests/words.test.ts')

interface OldWord {
  readonly old: RegExp
  readonly word: string
  /** Files in which the word means something else. */
  readonly except?: RegExp
  /** Only in pages: in code the word is a name of a part. */
  readonly isOfPages?: true
  /** Only in the code of the package. */
  readonly isOfSources?: true
}

const oldWords: readonly OldWord[] = [
  {
    old: /call:paused|\bPaused?(?:Call|Calls|Reason|Record|Keeper|Key)\b/,
    word: 'waiting',
    except: /bus|unknown-event/,
  },
  { old: /\bpaused calls?\b|\bcalls? (?:is|are|was|were) paused\b/i, word: 'waiting' },
  {
    old: /'pending'|`pending`|"pending"|\bpending (?:call|calls|result|results|token)\b/,
    word: 'waiting',
    // States of todos, of MCP tasks and of tests; and what an older file has.
    except: /todo|builtins\/tools|parity\/kode|closing-line|_conformance-tools|journals\/|waiting\/older/,
  },
  { old: /\bheldValues\b|\bHeldCalls\b|\bisHeld\b|\bhold: true\b/, word: 'waiting', except: /devtools\/inspector/ },
  { old: /\bpassage\b/i, word: 'pipeline', except: /middleware\/redact/ },
  { old: /#walk\b|\bnoWalk\b|\bcalls? walks?\b|\bwalked the whole pipeline\b/, word: 'pipeline' },
  { old: /executor\.(?:weigh|onToolsChange|list)\(|\bWeighing\b/, word: 'evaluate, tools:changed' },
  { old: /\bthe counter\b|\bvisitors?\b|\bvisitorOf\b/i, word: 'HTTP API, page, user', except: /discovery\/_words/ },
  { old: /\b(?:tools|values|approver|middleware|data) of the host\b|approvals: 'host'/, word: 'application' },
  { old: /toolwright\/hosts|src\/hosts|tests\/hosts/, word: 'frameworks' },
  {
    old: /\b(?:const|let|function\*?) (?:told|said|asked|given|shown|whole|taken|its|heard|known|kept|made|seen)\b/,
    word: 'a noun that says what the variable holds',
    // What a handler puts around a result is called so in public.
    except: /kernel\/result\/content/,
    isOfSources: true,
  },
  { old: /\b(?:hear|unheard)\b[^a-z]*\} = \w+Tools\(|\bvisit\.hear\(|\bloadPart\b|\bthenSync\b/, word: 'answer' },
  {
    old: /\b(?:its|the|a) turn of (?:the event loop|a call)\b|\btakes? turns\b|\bgets? (?:a )?turns?\b|\bin its turn\b/i,
    word: 'slot, order, yield',
    isOfSources: true,
  },
  { old: /\bwings?\b/i, word: 'part of the kernel', isOfPages: true },
  { old: /\bleaf\b|\bleaves of\b/i, word: 'extension', isOfPages: true },
  { old: /\bdoors?\b/i, word: 'extension point, entry', isOfPages: true },
  { old: /\b(?:walks|walked|walking)\b/i, word: 'pass, follow, read', isOfPages: true },
  { old: /\bpending\b|\bpaus(?:e|es|ed|ing)\b|\bheld\b/, word: 'waiting; delay, keep', isOfPages: true },
  { old: /\bweigh(?:s|ed|ing)?\b/i, word: 'evaluate; cost', isOfPages: true },
  { old: /\bhear(?:s|d)?\b/i, word: 'get; answer', isOfPages: true },
  { old: /\bof the host\b|\bthe host's\b/i, word: 'application; machine', isOfPages: true },
  {
    old: /\btakes? turns\b|\bturns? of the event loop\b|\bin turn\b/i,
    word: 'alternate, hold, in order',
    isOfPages: true,
  },
]

describe('an old word', () => {
  it.each(oldWords)('of $word ($old) is nowhere', ({ old, except, isOfPages, isOfSources }) => {
    const places = files
      .filter((file) => (isOfPages === true ? file.endsWith('.md') : true))
      .filter(
        (file) => (isOfSources === true ? /^(?:src|validators)\//.test(file) : true) && except?.test(file) !== true,
      )
      .flatMap((file) =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => (old.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
      )
    expect(places).toEqual([])
  })
})
