/** What an error says of itself. What is no text is left empty. */
export interface SaidError {
  readonly message: string
  readonly code: string
}

/** How many errors are read, since they may go round in circles or be made by a stranger. */
const mostErrors = 64

/**
 * Returns what an error and the errors behind it say: its `cause`, its `errors`, and theirs, at most 64, the outermost first. It never
 * throws: what cannot be read is left out.
 *
 * @example
 * ```ts
 * import { causesOf } from 'toolwright/extension'
 *
 * await fetch('http://127.0.0.1:9999').catch((error: unknown) => console.log(causesOf(error).map(({ code }) => code)))
 * ```
 */
export function causesOf(thrown: unknown): SaidError[] {
  const errors = new Set([thrown])
  const found: SaidError[] = []
  for (const error of errors) {
    if (found.length === mostErrors) break
    if (typeof error !== 'object' || error === null) continue
    try {
      const {
        message,
        code,
        cause,
        errors: several,
      } = error as { readonly [Field in keyof AggregateError | 'code']?: unknown }
      found.push({ message: textOrEmpty(message), code: textOrEmpty(code) })
      if (Array.isArray(several)) for (const one of several.slice(0, mostErrors)) errors.add(one)
      errors.add(cause)
    } catch {
      // a stranger's error, whose fields throw
    }
  }
  return found
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Whether the platform's own permissions forbade something: those of Deno, or of Node with `--permission`. Its message says which is missing.
 *
 * @example
 * ```ts
 * import { isForbidden } from 'toolwright/extension'
 *
 * console.log(isForbidden(new Error('There is no such file.'))) // false
 * ```
 */
export function isForbidden(error: unknown): boolean {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  return name === 'NotCapable' || code === 'ERR_ACCESS_DENIED'
}
