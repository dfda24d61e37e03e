/** A test framework of three functions, since it has to run wherever the package does. */

export function has(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what)
}

/** Compares two values by their JSON. */
export function same(actual: unknown, expected: unknown, what = ''): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what} is ${is?.slice(0, 400)}, and should be ${should?.slice(0, 400)}`)
}

/** Expects an error, and returns its code. */
export async function refused(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return (error as { readonly code?: unknown }).code
  }
  throw new Error('It was not refused.')
}

export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

export const never: Promise<never> = new Promise(() => {})

/** The words of a result. */
export function words({ content }: { readonly content: readonly object[] }): string {
  return content.map((block) => ('text' in block ? String(block.text) : '(no text)')).join('|')
}
