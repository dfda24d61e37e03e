import { valueKind } from '../json/value-kind.ts'
import { SpooledArtifact, type ArtifactClass, type ArtifactOption } from './artifact.ts'
import { isArtifactClass } from './brand.ts'
import { ArtifactError } from '../errors.ts'
import { readText } from '../json/json-text.ts'
import { pointerSteps } from '../json/text.ts'

/** A result that is text. */
export class TextArtifact extends SpooledArtifact {
  static override readonly kind: string = 'text'
  static override readonly mediaType: string = 'text/plain'
}

/**
 * A result that is one JSON value, parsed when it is first needed.
 * @example if (artifact instanceof JsonArtifact) console.log(await artifact.get('/rows/0/id'))
 */
export class JsonArtifact extends SpooledArtifact {
  static override readonly kind: string = 'json'
  static override readonly mediaType: string = 'application/json'
  #value: Promise<unknown> | undefined

  /**
   * Returns the whole value.
   *
   * @throws `E_ARTIFACT` if the text is not JSON.
   */
  value(): Promise<unknown> {
    this.#value ??= this.asString().then(jsonValueOf)
    this.#value.catch(() => (this.#value = undefined)) // a later read may succeed if the store failed
    return this.#value
  }

  /** Returns `object`, `array`, `string`, `number`, `boolean` or `null`. */
  async type(): Promise<string> {
    return valueKind(await this.value())
  }

  /** Returns the keys of an object, the indices of an array, and none for anything else. */
  async keys(): Promise<string[]> {
    const value = await this.value()
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  }

  /** Returns the number of items of an array, keys of an object or characters of a string; 1 for anything else. */
  async length(): Promise<number> {
    const value = await this.value()
    if (typeof value === 'string' || Array.isArray(value)) return value.length
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
  }

  /**
   * Returns the value at a JSON Pointer, or `undefined` if there is none.
   *
   * @param pointer Such as `/items/0/name`; the empty string is the whole value.
   * @throws `E_ARTIFACT` if the pointer is not a JSON Pointer.
   * @see https://www.rfc-editor.org/rfc/rfc6901
   */
  async get(pointer: string): Promise<unknown> {
    if (pointer !== '' && !pointer.startsWith('/')) {
      throw new ArtifactError(`${JSON.stringify(pointer)} is not a JSON Pointer: it has to be empty or begin with "/".`)
    }
    let value = await this.value()
    for (const key of pointerSteps(pointer)) {
      const isStep = Array.isArray(value) ? /^\d+$/.test(key) : typeof value === 'object' && value !== null
      if (!isStep || !Object.hasOwn(value as object, key)) return undefined
      value = (value as Record<string, unknown>)[key]
    }
    return value
  }

  /** Returns the items of an array from `start` up to and without `end`. */
  async slice(start?: number, end?: number): Promise<unknown[]> {
    const value = await this.value()
    return Array.isArray(value) ? value.slice(start, end) : []
  }
}

function jsonValueOf(text: string): unknown {
  try {
    return readText(text)
  } catch (cause) {
    throw new ArtifactError(`The artifact is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/** A result that is bytes. */
export class BinaryArtifact extends SpooledArtifact {
  static override readonly kind: string = 'binary'
}

/** Returns the class for a media type: one of `classes`, else JSON, text or bytes. */
export function classOfMediaType(mediaType: string | undefined, classes: readonly ArtifactClass[] = []): ArtifactClass {
  const essence = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const own = classes.find((Class) => {
    const { kind, mediaType: ownMediaType, mediaTypes } = Class as unknown as typeof SpooledArtifact
    return kind !== SpooledArtifact.kind && (mediaTypes ?? [ownMediaType]).includes(essence)
  })
  if (own !== undefined) return own
  if (essence === JsonArtifact.mediaType || essence.endsWith('+json')) return JsonArtifact
  return essence.startsWith('text/') ? TextArtifact : BinaryArtifact
}

/**
 * Returns the subclass that the `artifact` option of a tool names, else the one that the result suggests.
 *
 * @throws `E_ARTIFACT` if the option names none.
 */
export function chosenClass(option: ArtifactOption | undefined, otherwise: ArtifactClass): ArtifactClass {
  if (option === undefined) return otherwise
  if (isArtifactClass(option)) return option as ArtifactClass
  let returnedValue: unknown
  try {
    returnedValue = (option as () => unknown)()
  } catch (cause) {
    throw new ArtifactError("The tool's `artifact` function threw instead of giving a class.", { cause })
  }
  if (isArtifactClass(returnedValue)) return returnedValue as ArtifactClass
  throw new ArtifactError(
    "The tool's `artifact` is neither a subclass of SpooledArtifact nor a function that gives one.",
  )
}

// A registered symbol: any copy of the package may have made a tool that takes artifacts.
const search: unique symbol = Symbol.for('toolwright.artifact-arguments') as never
const globalSearch = globalThis as { [search]?: (input: unknown) => boolean }

/** Sets what finds artifacts in validated args. Until an argument is an artifact, nothing is searched. */
export function searchArtifacts(isIn: (input: unknown) => boolean): void {
  globalSearch[search] ??= isIn
}

export function hasArtifacts(input: unknown): boolean {
  return globalSearch[search]?.(input) === true
}
