// What documents that are garbage are made of.
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
