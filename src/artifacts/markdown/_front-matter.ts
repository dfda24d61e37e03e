import type { SpooledArtifact } from '../../index.ts'
import { loadYaml, yamlError } from '../_yaml.ts'

const mostFrontMatterLines = 2_000
const longestFrontMatter = 65_536

/** The front matter of a document. */
export interface FrontMatter {
  readonly text: string
  /** The line after it, or 0 if there is none. */
  readonly endLine: number
}

/** Finds the text between two lines of `---` at the very beginning. */
export async function findFrontMatter(artifact: SpooledArtifact): Promise<FrontMatter> {
  const none = { text: '', endLine: 0 }
  const lines: string[] = []
  let length = 0
  for await (const { first, texts } of artifact.lineGroups({ longest: longestFrontMatter })) {
    for (const [index, text] of texts.entries()) {
      const line = first + index
      if (line === 0) {
        if (text.trimEnd() !== '---') return none
        continue
      }
      if (/^(?:---|\.\.\.)\s*$/.test(text)) return { text: lines.join('\n'), endLine: line + 1 }
      length += text.length + 1
      if (line > mostFrontMatterLines || length > longestFrontMatter) return none
      lines.push(text)
    }
  }
  return none
}

/**
 * Parses YAML. Tags produce only plain values.
 *
 * @throws `E_ARTIFACT` if the text is not YAML, or the package `yaml` is not installed.
 */
export async function readYaml(text: string): Promise<unknown> {
  const { parse } = await loadYaml('Front matter')
  try {
    return parse(text, { schema: 'core', maxAliasCount: 100, logLevel: 'error', prettyErrors: false }) as unknown
  } catch (cause) {
    throw yamlError('The front matter', cause)
  }
}
