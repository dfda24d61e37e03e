import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url)
const leaves = globSync('validators/*.ts', { cwd: root.pathname, ignore: '**/_*' }).map((path) => path.slice(11, -3))
const cases = globSync('*.test.ts', { cwd: new URL('.', import.meta.url).pathname }).map((name) =>
  readFileSync(new URL(name, import.meta.url), 'utf8'),
)

describe('every validator runs the conformance suite', () => {
  test('there are some', () => {
    expect(leaves.length).toBeGreaterThan(5)
  })

  test.each(leaves)('%s', (leaf) => {
    // Only a file that imports the leaf by its public path can hand what it makes to the suite.
    const own = cases.filter(
      (text) => text.includes(`from 'toolwright/validators/${leaf}'`) && /^validatorConformance\(/m.test(text),
    )
    const names = own.flatMap((text) =>
      [...text.matchAll(/import \{ (\w+) \} from 'toolwright\/validators\/([\w-]+)'/g)]
        .filter(([, , from]) => from === leaf)
        .map(([, name]) => name),
    )
    expect(names, `tests/conformance/validators has no case for validators/${leaf}.ts`).not.toEqual([])
    expect(
      own.some((text) =>
        names.some(
          (name) => text.includes(`validatorConformance('${name}(`) || text.includes(`validatorConformance("${name}(`),
        ),
      ),
    ).toBe(true)
  })
})
