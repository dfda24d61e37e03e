import type { JsonArtifact } from '../../index.ts'
import { find, type FilterOptions } from './_find.ts'
import { pointerSteps, valueAt } from './_pointer.ts'

/**
 * What a JSONPath selects, in order.
 *
 * The path is asked about the whole document; of `JsonLinesArtifact` that is the array of all lines, of which never more than
 * one is held at a time. Patterns in `match` and `search` need the package `re2js`, and have to be written out in the path.
 *
 * @param path Such as `$.items[?@.price < 10].name`; at most 2,000 characters.
 * @param options Where to begin, and how much to give and to do at most.
 * @throws `E_ARTIFACT` where it is no path, takes too many steps, or the artifact is no JSON.
 * @example
 * ```ts
 * import { JsonArtifact } from 'toolwright'
 * import { filter } from 'toolwright/artifacts/json'
 *
 * const cheap = (artifact: JsonArtifact) => filter(artifact, '$.items[?@.price < 10]', { limit: 20 })
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc9535
 * @experimental
 */
export async function filter(artifact: JsonArtifact, path: string, options: FilterOptions = {}): Promise<unknown[]> {
  const { start = 0, limit = 1_000 } = options
  const values: unknown[] = []
  if (limit <= 0) return values
  let passed = 0
  for await (const value of find(artifact, path, options)) {
    if (passed++ < start) continue
    values.push(value)
    if (values.length >= limit) break
  }
  return values
}

/**
 * Some members of each thing that a JSONPath selects.
 *
 * @param path As of `filter`.
 * @param members Names of members, or JSON Pointers such as `/user/name`, which are the keys of what is given.
 * @param options As of `filter`.
 * @returns An object for each thing; members that are not there are left out.
 * @throws `E_ARTIFACT` as `filter`.
 * @example
 * ```ts
 * import { JsonArtifact } from 'toolwright'
 * import { pluck } from 'toolwright/artifacts/json'
 *
 * const names = (artifact: JsonArtifact) => pluck(artifact, '$.items[*]', ['name', '/maker/city'])
 * ```
 * @experimental
 */
export async function pluck(
  artifact: JsonArtifact,
  path: string,
  members: readonly string[],
  options?: FilterOptions,
): Promise<Record<string, unknown>[]> {
  const wanted = members.map((member) => [member, member.startsWith('/') ? pointerSteps(member) : [member]] as const)
  const found = await filter(artifact, path, options)
  return found.map((value) =>
    Object.fromEntries(
      wanted.flatMap(([member, steps]) => {
        const part = valueAt(value, steps)
        return part === undefined ? [] : [[member, part]]
      }),
    ),
  )
}
