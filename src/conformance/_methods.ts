/**
 * Throws `TypeError` if what a program made for a suite is not what the suite tests: its tests would say nothing of that.
 *
 * @param expected What the program has to give, as a sentence without its full stop.
 */
export function requireMethods(subject: object | undefined, methods: readonly string[], expected: string): void {
  const lacking = methods.filter((name) => typeof subject?.[name as never] !== 'function')
  if (lacking.length === 0) return
  const what = lacking.length === methods.length ? 'There is none' : `It lacks \`${lacking.join('`, `')}\``
  throw new TypeError(`${expected}. ${what}.`)
}
