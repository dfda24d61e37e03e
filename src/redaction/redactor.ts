import { stageFields, type Identity, type Received } from '../kernel/call/parcel.ts'
import { InvalidToolResultError, isToolError, type ToolError } from '../kernel/errors.ts'
import { isArrayBuffer } from '../kernel/json/copy.ts'
import { bounded, jsonText, readText } from '../kernel/json/json-text.ts'
import type { Redactor } from '../kernel/call/redactor.ts'
import {
  content,
  isMarkedJson,
  json,
  looksLikeBlocks,
  markedBlocks,
  markedValue,
  shown,
  type ContentBlock,
} from '../kernel/result/content.ts'
import { jsonBlock } from '../kernel/result/encode.ts'
import type { Issue } from '../kernel/schema/standard.ts'
import { redactError } from './errors.ts'
import { redactIssues } from './issues.ts'
import { mask, masked, maskedBy } from './masked.ts'
import { secretValues } from './secret-values.ts'

export { redactIssues } from './issues.ts'

const valueLimit = 65_536

/** Makes the redactor of a call whose tool has secrets. */
export function redactorOf(call: Received, secrets: readonly string[]): Redactor {
  return new CallRedactor(call, secrets)
}

class CallRedactor implements Redactor {
  readonly #call: Received
  readonly #secrets: readonly string[]
  #identity: Identity | undefined
  #values: readonly string[] | undefined = []
  /** Characters times values that were searched. */
  #searched = 0

  constructor(call: Received, secrets: readonly string[]) {
    this.#call = call
    this.#secrets = secrets
  }

  /** The secret values of the args. None before they are identified; `undefined` if texts are masked whole. */
  get #secretValues(): readonly string[] | undefined {
    const { identity } = stageFields(this.#call)
    if (identity === this.#identity || identity === undefined) return this.#values
    this.#identity = identity
    return (this.#values = secretValues(() => identity.text, this.#secrets))
  }

  args(): unknown {
    const { identity } = stageFields(this.#call)
    return identity && this.data(masked(readText(identity.text), this.#secrets))
  }

  issues(issues: readonly Issue[]): readonly Issue[] {
    return redactIssues(issues, this.#secrets)
  }

  error(error: ToolError): ToolError {
    return redactError(error, this, stageFields(this.#call).identity !== undefined)
  }

  text(text: string): string {
    const values = this.#secretValues
    if (values === undefined) return mask
    // Many values are searched for until this much work was done in the call, so that no search takes long.
    if (values.length > 16 && (this.#searched += values.length * (text.length + 100)) > 5e8) return mask
    return values.reduce((maskedSoFar, secret) => maskedSoFar.replaceAll(secret, mask), text)
  }

  /** Returns plain JSON without secret values. */
  data(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return this.text(value)
      case 'number':
        return this.#secretValues?.includes(String(value)) === false ? value : mask
      case 'object':
        if (value === null || this.#secretValues?.length === 0) return value
        if (Array.isArray(value)) return value.map((item) => this.data(item))
        return Object.fromEntries(Object.entries(value).map((member) => member.map((each) => this.data(each))))
      default:
        return value
    }
  }

  value(value: unknown): unknown {
    try {
      if (bounded(value, valueLimit) !== value) return mask
      return this.#json(JSON.stringify(value))
    } catch {
      return undefined // it is not JSON
    }
  }

  result(result: unknown): unknown {
    if (typeof result === 'string') return this.#textOrJson(result)
    if (typeof result !== 'object' || result === null) return this.data(result)
    if (isArrayBuffer(result) || ArrayBuffer.isView(result)) return result
    try {
      const blocks = Array.isArray(result) && looksLikeBlocks(result) ? result : markedBlocks(result)
      const maskedBlocks = blocks?.map((block) => this.#block(block))
      if (!isMarkedJson(result)) return maskedBlocks === undefined ? json(this.#kept(result)) : content(maskedBlocks)
      const value = this.#kept(markedValue(result))
      return maskedBlocks === undefined ? json(value) : shown(maskedBlocks, value)
    } catch (cause) {
      if (isToolError(cause)) throw cause
      throw new InvalidToolResultError('The result cannot be read: it throws when it is looked at.')
    }
  }

  #block(block: ContentBlock): ContentBlock {
    if (block.type === 'image' || block.type === 'audio') return block
    if (block.type === 'text') {
      return { ...(this.data(block) as object), type: 'text', text: this.#textOrJson(block.text) }
    }
    if (block.type !== 'json') return this.data(readText(jsonText(block))) as ContentBlock
    const data = this.#kept(block.data)
    // The handler's own text would show what is masked in the data.
    return block.text === undefined ? { type: 'json', data } : jsonBlock(data)
  }

  /** Masks the value as JSON, since only JSON shows what instances and `toJSON` become. */
  #kept(value: unknown): unknown {
    let text: string
    try {
      text = jsonText(value)
    } catch (error) {
      const issues = isToolError(error) ? (error.issues ?? []) : []
      const maskedIssues = this.issues(issues)
      if (maskedIssues.every((issue, index) => issue === issues[index])) throw error
      throw new InvalidToolResultError('The result cannot be kept: JSON cannot hold a secret of it.', {
        issues: maskedIssues,
      })
    }
    return this.#json(text)
  }

  #json(text: string): unknown {
    return this.data(maskedBy(readText(text), this.#secrets, undefined, (words) => this.#textOrJson(words)))
  }

  /** Masks a text, which may be JSON with secrets. */
  #textOrJson(text: string): string {
    if (!/^\s*[[{]/.test(text)) return this.text(text)
    try {
      let isMasked = false
      const hide = (): void => void (isMasked = true)
      const read = (inner: string): string => {
        const maskedText = this.#textOrJson(inner)
        isMasked ||= maskedText !== inner
        return maskedText
      }
      const value = maskedBy(readText(text), this.#secrets, hide, read)
      return this.text(isMasked ? JSON.stringify(value) : text)
    } catch {
      return this.text(text) // it is not JSON
    }
  }
}
