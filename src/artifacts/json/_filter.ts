import type { JsonArtifact } from '../../index.ts'
import { find, type FilterOptions } from './_find.ts'
import { requirePointer, valueAt } from './_pointer.ts'

/**
 * Returns what a JSONPath selects, in order.
 *
 * The path applies to the whole document. For `JsonLinesArtifact` that is the array of all lines, of which one at a time is in
 * memory. Patterns in `match` and `search` must be literals in the path, and need the package `re2js`.
 *
 * @param path Such as `$.items[?@.price < 10].name`; at most 2,000 characters.
 * @param options The first result, and the limits of results and steps.
 * @throws `E_ARTIFACT` if the path is not valid or takes too many steps, or if the artifact is not JSON.
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
 * Returns some members of each value that a JSONPath selects.
 *
 * @param path The same as for `filter`.
 * @param members Names of members, or JSON Pointers such as `/user/name`. They are the keys of the returned objects.
 * @param options The same as for `filter`.
 * @returns An object for each value; missing members are left out.
 * @throws `E_ARTIFACT` in the same cases as `filter`.
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
  const wanted = members.map((member) => [member, member.startsWith('/') ? requirePointer(member) : [member]] as const)
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
