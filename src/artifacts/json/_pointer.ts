import { ArtifactError } from '../../errors.ts'

/**
 * Returns the steps of a JSON Pointer.
 *
 * @throws `E_ARTIFACT` if the text is not a JSON Pointer.
 * @see https://www.rfc-editor.org/rfc/rfc6901
 */
export function requirePointer(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) {
    throw new ArtifactError(
      `${JSON.stringify(pointer.slice(0, 200))} is not a JSON Pointer: it has to be empty or begin with "/".`,
    )
  }
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value that the steps lead to, or `undefined` if there is none. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let at = value
  for (const step of steps) {
    const isStep = Array.isArray(at) ? isIndex(step) : typeof at === 'object' && at !== null
    if (!isStep || !Object.hasOwn(at as object, step)) return undefined
    at = (at as Record<string, unknown>)[step]
  }
  return at
}

/** Whether a step of a pointer is the index of an item. */
export function isIndex(step: string): boolean {
  return /^(?:0|[1-9]\d{0,15})$/.test(step)
}
