import { show } from './_messages.ts'
import { misfit, type Run, spend } from './_run.ts'
import type { Pattern, Site } from './_site.ts'

/** Compiles `pattern`, and `format` if it has a test. */
export function stringKeywords(site: Site): void {
  const { pattern, format } = site.schema as Record<string, string | undefined>
  if (site.asserts && pattern !== undefined) {
    const compiled = site.pattern(pattern, 'pattern')
    site.strings.push(
      (text, run) =>
        matches(compiled, text, run) || misfit(run, () => `must match the pattern ${show(pattern)}, got ${show(text)}`),
    )
  }
  if (format !== undefined && Object.hasOwn(site.formats, format)) {
    const isOfFormat = site.formats[format]!
    site.strings.push(
      (text, run) => isOfFormat(text) || misfit(run, () => `must be a valid ${format}, got ${show(text)}`),
    )
  }
}

/** Tests a text, and counts steps for its length. */
export function matches(pattern: Pattern, text: string, run: Run): boolean {
  spend(run, 1 + Math.ceil(text.length * (pattern.cost ?? 1 / 64)))
  return pattern.test(text)
}
