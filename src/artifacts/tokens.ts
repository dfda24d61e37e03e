/**
 * Estimates of how many tokens a text takes. This leaf guesses by rules for letters, digits, signs and scripts: it has no
 * vocabulary of any model, and the count that is paid for is another.
 *
 * @module
 */
import { estimateTokenCount } from 'tokenx'

/**
 * Estimates the tokens of a text, for `artifact.estimateTokens(estimateTokens)` and `artifactTools({ estimateTokens })`. Needs
 * the package `tokenx`.
 *
 * @returns A whole number; for prose and code mostly within a tenth of what models count.
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
