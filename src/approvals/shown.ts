import { limited } from '../kernel/call/limited.ts'
import type { Authorized } from '../kernel/call/parcel.ts'
import type { Question } from '../kernel/call/approval.ts'
import { InvalidConfigurationError, ToolTimeoutError } from '../kernel/errors.ts'
import { bounded } from '../kernel/json/json-text.ts'
import { shortened } from '../kernel/json/shortened.ts'
import { looksLikeBlocks } from '../kernel/result/content.ts'

const largestPreview = 16_384
/** How long a tool may take to make one of them, in milliseconds. */
const previewTimeout = 5_000
const shownOptions = [
  ['summary', 'displaySummary'],
  ['preview', 'confirmationPreview'],
] as const

/** Adds to the meta of a question what the tool shows of the call. A failure is reported, and never stands in the way of the question. */
export async function shownBy(
  { tool, context, deadline }: Authorized,
  input: unknown,
  meta: Question['meta'],
  report: (error: unknown) => void,
): Promise<Question['meta']> {
  let details = meta
  for (const [field, option] of shownOptions) {
    const ownPart = tool[option]
    if (ownPart === undefined) continue
    const late = (): ToolTimeoutError => new ToolTimeoutError(`\`${option}\` of ${tool.name} took too long.`)
    try {
      const partOutput: unknown =
        typeof ownPart === 'function' ? (ownPart as (...input: unknown[]) => unknown)(input, context) : ownPart
      const view = limited(partOutput, previewTimeout, late, (viewValue) => shownPart(option, viewValue))
      details = { ...details, [field]: await deadline.within(view) }
    } catch (error) {
      deadline.check()
      report(error)
    }
  }
  return details
}

function shownPart(option: string, view: unknown): unknown {
  if (typeof view === 'string') return shortened(view, largestPreview)
  const isFitting = Array.isArray(view) && looksLikeBlocks(view) && bounded(view, largestPreview) === view
  if (isFitting) return JSON.parse(JSON.stringify(view)) // records and pages get it; it throws for what JSON cannot hold
  throw new InvalidConfigurationError(
    `\`${option}\` has to return text, or content blocks of at most 16,384 bytes. The question goes out without it.`,
  )
}
