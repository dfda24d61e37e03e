/**
 * Estimates how many tokens a text takes. It uses rules for letters, digits, signs and scripts, and has no model's vocabulary:
 * the count that the provider bills differs.
 *
 * @module
 */
import { estimateTokenCount } from 'tokenx'

/**
 * Estimates the tokens of a text, for `artifact.estimateTokens(estimateTokens)` and `artifactTools({ estimateTokens })`. Needs
 * the package `tokenx`.
 *
 * @returns A whole number, for prose and code mostly within 10% of what models count.
 * @example
 * ```ts
 * import { TextArtifact } from 'toolwright'
 * import { estimateTokens } from 'toolwright/artifacts/tokens'
 *
 * const cost = (artifact: TextArtifact) => artifact.estimateTokens(estimateTokens)
 * ```
 * @see https://github.com/johannschopplich/tokenx
 * @experimental
 */
export function estimateTokens(text: string): number {
  return estimateTokenCount(text)
}
