import { content, isMarkedJson, json, looksLikeBlocks, markedBlocks, markedValue, shown } from '../result/content.ts'
import type { ContentBlock } from '../result/content.ts'
import { bounded } from '../json/json-text.ts'
import { pointerSteps } from '../json/text.ts'
import { InvalidToolResultError, isToolError } from '../errors.ts'
import { isArrayBuffer } from '../json/copy.ts'
import { jsonBlock } from '../result/encode.ts'
import { jsonText, readText } from '../json/json-text.ts'
import type { Issue } from '../schema/standard.ts'

/** Replaces a secret. */
export const mask = '[secret]'

/** The part of a call that names its secrets. Args are read from the hashed text, which cannot change. */
export interface Secretive {
  readonly tool: { readonly secrets: readonly string[] }
  readonly identity: { readonly text: string }
}

/** Shorter values are not replaced in texts, since they match everywhere. */
const shortest = 3
const largestTold = 65_536
/** If a call has more secret values, its texts are masked whole, so that no search takes long. */
const mostValues = 1_000

/**
 * Returns a copy in which the values at the given JSON Pointers are masked. Returns the value itself if there are no pointers.
 *
 * If a pointer's step is not an index, it applies to each item of an array. Text in place of an object or an array is masked
 * whole, since it may be JSON of either. So is every item that is not an object, if a pointer applies to it.
 */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  return maskedBy(value, secrets)
}

/** Returns the args of a call with its secrets masked. */
export function toldArgs({ tool, identity }: Secretive): unknown {
  return masked(readText(identity.text), tool.secrets)
}

/** Returns the input. If the tool has secrets, returns the masked args, since pointers into args do not fit the input. */
export function toldInput(call: Secretive & { readonly input: unknown }): unknown {
  return call.tool.secrets.length === 0 ? call.input : toldArgs(call)
}

/**
 * Returns a handler's result with secrets masked, for the model and the artifact. Bytes, streams and artifacts stay as they
 * are.
 *
 * @throws `E_INVALID_TOOL_RESULT` if the tool has secrets and JSON cannot hold the result.
 */
export function toldResult(result: unknown, call: Secretive): unknown {
  const redactor = redactorOf(call)
  return redactor === undefined ? result : redactor.result(result)
}

/** Returns issues without the validator's message about a secret or its container, and without keys within a secret. */
export function redactIssues(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[] {
  if (secrets.length === 0) return issues
  const pointers = secrets.map(pointerSteps)
  return issues.map((issue) => {
    const lengths = pointers.flatMap((steps) => nearness(issue.path, steps) ?? [])
    if (lengths.length === 0) return issue
    return { message: 'must be what the schema of the tool says', path: issue.path.slice(0, Math.min(...lengths)) }
  })
}

/** Returns how many steps of a path may be shown if it touches a secret. Returns `undefined` if it does not. */
function nearness(path: readonly PropertyKey[], steps: readonly string[]): number | undefined {
  let depth = 0
  for (const [index, key] of path.entries()) {
    if (depth === steps.length) return index
    if (String(key) === steps[depth]) depth++
    else if (!/^\d+$/.test(String(key))) return undefined // the index of an array to whose items the pointer applies
  }
  return path.length
}

const redactors = new WeakMap<object, Redactor>()

/** Returns the redactor of a call, which has one if its tool has secrets. */
export function redactorOf({ tool, identity }: Partial<Secretive>): Redactor | undefined {
  if (tool === undefined || tool.secrets.length === 0) return undefined
  const redactor = redactors.get(identity ?? tool) ?? new Redactor(tool.secrets, identity)
  redactors.set(identity ?? tool, redactor)
  return redactor
}

/** Hides the secrets of a call in texts and data: the values at the pointers, and each repetition of those of the args. */
class Redactor {
  readonly #secrets: readonly string[]
  /** The secret values, longest first. `undefined` if they are too many or cannot be read: then texts are masked whole. */
  readonly #texts: readonly string[] | undefined

  constructor(secrets: readonly string[], identity: Secretive['identity'] | undefined) {
    this.#secrets = secrets
    this.#texts = identity === undefined ? [] : textsIn(identity, secrets)
  }

  /** Returns a text without secret values. */
  words(text: string): string {
    if (this.#texts === undefined) return mask
    return this.#texts.reduce((told, secret) => told.replaceAll(secret, mask), text)
  }

  /** Returns plain JSON without secret values. */
  data(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return this.words(value)
      case 'number':
        return this.#texts?.includes(String(value)) === false ? value : mask
      case 'object':
        if (value === null || this.#texts?.length === 0) return value
        if (Array.isArray(value)) return value.map((item) => this.data(item))
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.words(key), this.data(item)]))
      default:
        return value
    }
  }

  /** Returns any value as JSON without secrets: the mask if it exceeds 64 KiB, `undefined` if it cannot be read. */
  told(value: unknown): unknown {
    try {
      if (bounded(value, largestTold) !== value) return mask
      const text = JSON.stringify(value) as string | undefined
      return text === undefined ? undefined : this.#json(text)
    } catch {
      return undefined
    }
  }

  /** Returns a whole result with secrets masked and its marks kept. Throws `E_INVALID_TOOL_RESULT` if JSON cannot hold it. */
  result(result: unknown): unknown {
    if (typeof result === 'string') return this.#text(result)
    if (typeof result !== 'object' || result === null) return this.data(result)
    if (isArrayBuffer(result) || ArrayBuffer.isView(result)) return result
    try {
      const blocks = Array.isArray(result) && looksLikeBlocks(result) ? result : markedBlocks(result)
      const told = blocks?.map((block) => this.#block(block))
      if (!isMarkedJson(result)) return told === undefined ? json(this.#kept(result)) : content(told)
      const value = this.#kept(markedValue(result))
      return told === undefined ? json(value) : shown(told, value)
    } catch (cause) {
      if (isToolError(cause)) throw cause
      throw new InvalidToolResultError('The result cannot be read: it throws when it is looked at.')
    }
  }

  #block(block: ContentBlock): ContentBlock {
    if (block.type === 'image' || block.type === 'audio') return block
    if (block.type === 'text') return { ...(this.data(block) as object), type: 'text', text: this.#text(block.text) }
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
      const said = redactIssues(issues, this.#secrets)
      if (said.every((issue, index) => issue === issues[index])) throw error
      throw new InvalidToolResultError('The result cannot be kept: JSON cannot hold a secret of it.', { issues: said })
    }
    return this.#json(text)
  }

  #json(text: string): unknown {
    return this.data(maskedBy(readText(text), this.#secrets, undefined, (words) => this.#text(words)))
  }

  /** Masks a text, which may be JSON with secrets. */
  #text(text: string): string {
    if (!/^\s*[[{]/.test(text)) return this.words(text)
    try {
      let isMasked = false
      const hide = (): void => void (isMasked = true)
      const read = (inner: string): string => {
        const told = this.#text(inner)
        isMasked ||= told !== inner
        return told
      }
      const value = maskedBy(readText(text), this.#secrets, hide, read)
      return this.words(isMasked ? JSON.stringify(value) : text)
    } catch {
      return this.words(text) // it is not JSON
    }
  }
}

/** Returns the secret values of args, in each form that a text may have. */
function textsIn({ text }: Secretive['identity'], secrets: readonly string[]): readonly string[] | undefined {
  const texts = new Set<string>()
  const collect = (value: unknown): void => {
    if (texts.size > mostValues) return
    if (typeof value === 'object' && value !== null) return Object.values(value).forEach(collect)
    if (typeof value !== 'string' && typeof value !== 'number') return
    const plain = String(value)
    if (plain.length < shortest || mask.includes(plain)) return
    for (const written of [plain, JSON.stringify(plain).slice(1, -1), uriText(plain)]) texts.add(written)
    if (!/^\s*[[{"]/.test(plain)) return
    try {
      collect(readText(plain))
    } catch {
      // it is not JSON
    }
  }
  try {
    maskedBy(readText(text), secrets, collect)
  } catch {
    return undefined // the host's own args, which are not JSON
  }
  return texts.size > mostValues ? undefined : [...texts].toSorted((one, other) => other.length - one.length)
}

function uriText(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text // half of a character
  }
}

/**
 * Masks the values at the pointers.
 *
 * @param hide Called with each masked value.
 * @param read Masks text at the root, or in an array at the root. Default: the text is masked whole.
 */
function maskedBy(
  value: unknown,
  secrets: readonly string[],
  hide?: (hidden: unknown) => void,
  read?: (text: string) => string,
): unknown {
  return secrets.reduce<unknown>((copy, pointer) => maskedAt(copy, pointerSteps(pointer)), value)

  function maskedAt(its: unknown, steps: readonly string[], isItem = false, depth = 0): unknown {
    const key = steps[depth]
    if (key === undefined || typeof its === 'string') {
      if (its === mask) return its
      if (key !== undefined && depth === 0 && read !== undefined) return read(its as string)
      hide?.(its)
      return mask
    }
    if (typeof its !== 'object' || its === null) {
      if (!isItem || its === null || read !== undefined) return its
      hide?.(its)
      return mask
    }
    if (Array.isArray(its) && !/^\d+$/.test(key)) return its.map((item: unknown) => maskedAt(item, steps, true, depth))
    if (!Object.hasOwn(its, key)) return its
    const copy = (Array.isArray(its) ? [...(its as unknown[])] : { ...its }) as Record<string, unknown>
    copy[key] = maskedAt(copy[key], steps, false, depth + 1)
    return copy
  }
}

/** Returns unguessable random bytes as hexadecimal digits. */
export function randomDigits(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
