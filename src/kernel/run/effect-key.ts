import { sha256 } from '#sha256'
import type { Confirmed } from '../call/parcel.ts'
import { downstream } from '../outcome/failure.ts'

const longestEffectKey = 1_024

/** Notes what a call does in the words of its tool. A tool that cannot say it is not run. */
export function noteEffectKey(confirmed: Confirmed): void {
  const { tool, input, context } = confirmed
  if (tool.effectKey === undefined) return
  try {
    const text: unknown = tool.effectKey(input, context)
    if (text === undefined || text === null) return
    if (typeof text !== 'string' || text === '' || text.length > longestEffectKey) {
      const words = `\`effectKey\` of tool "${tool.name}" returns nothing, or a text of 1 to ${longestEffectKey} characters.`
      throw new TypeError(words)
    }
    confirmed.effectKey = { text, digest: sha256(text) }
  } catch (thrown) {
    throw downstream(tool.name, thrown, '`effectKey` of tool')
  }
}
