import type { Fields } from './_read.ts'

/** The longest description with examples, in UTF-16 units: OpenAI refuses a longer one. */
const longestExampled = 1_024

/**
 * Returns a description with examples of args at its end, for providers that have no field for them. An example that does not
 * fit is left out whole: half an example would teach what is wrong.
 *
 * @param description The tool's description.
 * @param examples Args, as `define` of `definer` gets them. Those that fit into 1,024 characters together go out.
 * @example
 * ```ts
 * import { withExamples } from 'toolwright/formats/kit'
 *
 * const words = withExamples('Adds', [{ a: 1, b: 2 }]) // Adds … Examples of args: {"a":1,"b":2}
 * ```
 * @experimental
 */
export function withExamples(description: string, examples: readonly Fields[]): string {
  let lines = ''
  for (const example of examples) {
    const line = `\n${JSON.stringify(example)}`
    if (description.length + heading.length + lines.length + line.length <= longestExampled) lines += line
  }
  return lines === '' ? description : `${description}${heading}${lines}`
}

const heading = '\n\nExamples of args:'
