// Values that JSON can hold, and that code which does not expect them gets wrong.

function nested(depth: number): unknown {
  let value: unknown = 'the end'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

/** Texts that end lines, deceive readers, name what every object has, or look like something else. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  'a\nb\r\nc',
  '\0',
  '\u001b[31m',
  '\u202eabc',
  '\u2028\u2029',
  'é e\u0301 😀',
  '"\\\'`${}',
  '../../etc/passwd',
  'null',
  '-1e999',
  '{"a":1}',
  'x'.repeat(10_000),
]

/** Makes the values anew, so that no test sees what another changed. */
export function hostileValues(): readonly unknown[] {
  return [
    null,
    true,
    false,
    0,
    -1,
    0.1,
    1e21,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53,
    ...hostileTexts,
    [],
    {},
    [[], {}, [null], [[[]]]],
    { '': '', ' ': 0, '1': 1, '0': 0, '-1': -1 },
    JSON.parse('{"length":3,"then":"no promise","toJSON":"no function","valueOf":1,"hasOwnProperty":false}'),
    { type: 'text', text: 'no block' },
    { '~standard': { version: 1 }, status: 'ok', isError: true, content: [] },
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    Object.fromEntries(hostileTexts.map((text, index) => [text, index])),
    Array.from({ length: 1_000 }, (_, index) => ({ index })),
    nested(60),
  ]
}
