import { bounded } from '../json/bounded.ts'
import {
  content,
  isMarkedJson,
  json,
  looksLikeBlocks,
  markedBlocks,
  markedValue,
  type ContentBlock,
} from '../result/content.ts'
import { InvalidToolResultError, isToolError } from '../errors.ts'
import { jsonBlock } from '../result/json-block.ts'
import { jsonText, readText } from '../json/json-text.ts'
import type { Issue } from '../schema/standard.ts'
import { pointerSteps } from '../json/text.ts'

/** What stands where a secret was. */
export const mask = '[secret]'

/** A call, as far as it says what must not be told of it. Its args are read from the text that was hashed: nobody can change that. */
export interface Secretive {
  readonly tool: { readonly secrets: readonly string[] }
  readonly identity: { readonly text: string }
}

type Identifying = Pick<Secretive, 'tool'> & { readonly identity: Secretive['identity'] | undefined }

/** Shorter values are not looked for in texts: they would be found everywhere. */
const shortest = 3
const largestTold = 65_536
/** A call with more hidden values than this has its texts masked whole, so that no search takes long. */
const mostValues = 1_000

/**
 * A copy in which the values at the given JSON Pointers are masked; the value itself if there are no pointers.
 *
 * A pointer looks into each item of an array that has no such index. Text that stands where a pointer expects an object or an
 * array is masked whole, since it may be JSON text of either; so is everything but objects in an array in which a pointer looks.
 */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  return maskedBy(value, secrets, nothing)
}

/** The args of a call as they may be told. */
export function toldArgs({ tool, identity }: Secretive): unknown {
  return masked(readText(identity.text), tool.secrets)
}

/** What the handler is given, as it may be told: a pointer into args is of no use in what a schema made of them. */
export function toldInput(call: Secretive & { readonly input: unknown }): unknown {
  return call.tool.secrets.length === 0 ? call.input : toldArgs(call)
}

/** Issues without the words of a validator about a secret, or about what holds one, and without the keys within a secret. */
export function concealed(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[] {
  if (secrets.length === 0) return issues
  const pointers = secrets.map(pointerSteps)
  return issues.map((issue) => {
    const lengths = pointers.flatMap((steps) => nearness(issue.path, steps) ?? [])
    return lengths.length === 0 ? issue : { message: 'is not valid', path: issue.path.slice(0, Math.min(...lengths)) }
  })
}

/** How much of a path may be told that leads to a secret, through it, or to what holds it; nothing if it leads elsewhere. */
function nearness(path: readonly PropertyKey[], steps: readonly string[]): number | undefined {
  let depth = 0
  for (const [index, key] of path.entries()) {
    if (depth === steps.length) return index
    if (String(key) === steps[depth]) depth++
    else if (!/^\d+$/.test(String(key))) return undefined // an index may be that of an array in which the pointer looks
  }
  return path.length
}

const redactors = new WeakMap<object, Redactor>()

/** What hides the secrets of a call, made once. */
export function redactorOf({ tool, identity }: Identifying): Redactor {
  const redactor = redactors.get(identity ?? tool) ?? new Redactor(tool.secrets, identity)
  redactors.set(identity ?? tool, redactor)
  return redactor
}

/**
 * Hides the secrets of one call in what others say of it: what stands at the pointers, and what repeats a value that the args
 * have there.
 */
class Redactor {
  readonly #secrets: readonly string[]
  /** The longest first; nothing if they are too many, or cannot be read. */
  readonly #texts: readonly string[] | undefined

  constructor(secrets: readonly string[], identity: Secretive['identity'] | undefined) {
    this.#secrets = secrets
    this.#texts = identity === undefined ? [] : textsIn(identity, secrets)
  }

  /** A text of others, without the values of secrets. */
  words(text: string): string {
    if (this.#texts === undefined) return mask
    return this.#texts.reduce((told, secret) => told.replaceAll(secret, mask), text)
  }

  /** Plain JSON of others, without the values of secrets. */
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

  /** Anything that others say, as far as JSON holds it; the mask if it is larger than 64 KiB, nothing if it cannot be read. */
  told(value: unknown): unknown {
    try {
      if (bounded(value, largestTold) !== value) return mask
      const text = JSON.stringify(value) as string | undefined
      return text === undefined ? undefined : this.#json(text)
    } catch {
      return undefined
    }
  }

  /**
   * A result that is all there, in which secrets are masked, however its maker marked it.
   *
   * @throws `E_INVALID_TOOL_RESULT` if JSON cannot hold it.
   */
  result(result: unknown): unknown {
    if (typeof result === 'string') return this.#text(result)
    if (typeof result !== 'object' || result === null) return this.data(result)
    if (result instanceof ArrayBuffer || ArrayBuffer.isView(result)) return result
    try {
      if (isMarkedJson(result)) return json(this.#kept(markedValue(result)))
      const blocks = Array.isArray(result) && looksLikeBlocks(result) ? result : markedBlocks(result)
      return blocks === undefined ? json(this.#kept(result)) : content(blocks.map((block) => this.#block(block)))
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
    // A text of the handler's own would show what the data hides.
    return block.text === undefined ? { type: 'json', data } : jsonBlock(data)
  }

  /** The value as JSON has it: what instances and `toJSON` make of themselves is nowhere else to be seen. */
  #kept(value: unknown): unknown {
    let text: string
    try {
      text = jsonText(value)
    } catch (error) {
      const issues = isToolError(error) ? (error.issues ?? []) : []
      const said = concealed(issues, this.#secrets)
      if (said.every((issue, index) => issue === issues[index])) throw error
      throw new InvalidToolResultError('The result cannot be kept: JSON cannot hold a secret of it.', { issues: said })
    }
    return this.#json(text)
  }

  #json(text: string): unknown {
    return this.data(maskedBy(readText(text), this.#secrets, nothing, (words) => this.#text(words)))
  }

  /** Text that may be JSON text of what has secrets. */
  #text(text: string): string {
    if (!/^\s*[[{]/.test(text)) return this.words(text)
    try {
      let isMasked = false
      const hide = (): void => void (isMasked = true)
      const read = (inner: string): string => {
        const told = this.#text(inner)
        if (told !== inner) hide()
        return told
      }
      const value = maskedBy(readText(text), this.#secrets, hide, read)
      return this.words(isMasked ? JSON.stringify(value) : text)
    } catch {
      return this.words(text) // it is no JSON
    }
  }
}

function nothing(): void {}

/** The values that args have at the pointers, as they may stand in a text. */
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
      // it is no JSON
    }
  }
  try {
    maskedBy(readText(text), secrets, collect)
  } catch {
    return undefined // args of the host's own that are no JSON
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
 * Masks what stands at the pointers.
 *
 * @param hide Given each value that is masked.
 * @param read Reads text at the root, or in an array at the root. Default: it is masked.
 */
function maskedBy(
  value: unknown,
  secrets: readonly string[],
  hide: (hidden: unknown) => void,
  read?: (text: string) => string,
): unknown {
  return secrets.reduce<unknown>((copy, pointer) => maskedAt(copy, pointerSteps(pointer)), value)

  function maskedAt(its: unknown, steps: readonly string[], isItem = false, depth = 0): unknown {
    const key = steps[depth]
    if (key === undefined || typeof its === 'string') {
      if (its === mask) return its
      if (key !== undefined && depth === 0 && read !== undefined) return read(its as string)
      hide(its)
      return mask
    }
    if (typeof its !== 'object' || its === null) {
      if (!isItem || its === null || read !== undefined) return its
      hide(its)
      return mask
    }
    if (Array.isArray(its) && !/^\d+$/.test(key)) return its.map((item: unknown) => maskedAt(item, steps, true, depth))
    if (!Object.hasOwn(its, key)) return its
    const copy = (Array.isArray(its) ? [...(its as unknown[])] : { ...its }) as Record<string, unknown>
    copy[key] = maskedAt(copy[key], steps, false, depth + 1)
    return copy
  }
}

/**
 * What a handler returned, with the secrets of its tool masked: what the model is shown and the artifact keeps. Bytes, streams and
 * artifacts stay as they are.
 *
 * @throws `E_INVALID_TOOL_RESULT` if the tool has secrets and JSON cannot hold the result.
 */
export function toldResult(result: unknown, call: Secretive): unknown {
  return call.tool.secrets.length === 0 ? result : redactorOf(call).result(result)
}
