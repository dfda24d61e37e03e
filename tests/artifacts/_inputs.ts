/** Inputs for each query of JSON. */
export const jsonInputs: Readonly<Record<string, readonly object[]>> = {
  json_type: [{}, { pointer: '/a' }],
  json_keys: [{}, { pointer: '/0', start: 1, limit: 2 }],
  json_length: [{}, { pointer: '/1' }],
  json_get: [{}, { pointer: '/0/a' }, { pointer: 'a' }],
  json_slice: [{}, { start: -2 }, { start: 1, end: -1 }, { pointer: '/a', end: 5 }],
  json_filter: [{ path: '$..a' }, { path: '$[?@.a == 1]', start: 1, limit: 2 }, { path: '$[-1]' }, { path: '$[' }],
  json_pluck: [{ path: '$[*]', members: ['a', '/a/b'] }],
}
