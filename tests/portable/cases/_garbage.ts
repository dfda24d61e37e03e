// What is made at random: documents that are garbage, and the numbers that choose.
/** What documents that are garbage are made of. */
export const documentKeys: readonly string[] =
  '$ref parameters requestBody content schema allOf properties items type in name required enum pattern servers security responses __proto__ constructor nullable discriminator mapping oneOf $defs operationId tags application/json multipart/form-data encoding a'.split(
    ' ',
  )
export const documentLeaves: readonly unknown[] = [
  '#/paths',
  '#/components/schemas/A',
  '#',
  'query',
  'path',
  'header',
  'object',
  'string',
  null,
  true,
  '',
  '(',
  7,
  -1.5,
  '{id}',
]

/** Returns numbers that are the same for the same seed. */
export function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

/** Makes a value that could stand anywhere in a document, and is wrong in most places. */
export function garbage(random: (below: number) => number, depth = 0): unknown {
  const kind = random(depth > 4 ? 1 : 3)
  if (kind === 0) return documentLeaves[random(documentLeaves.length)]
  const parts = Array.from({ length: random(5) }, () => garbage(random, depth + 1))
  if (kind === 1) return parts
  return JSON.parse(
    `{${parts.map((part) => `${JSON.stringify(documentKeys[random(documentKeys.length)])}:${JSON.stringify(part)}`).join()}}`,
  ) as unknown
}
