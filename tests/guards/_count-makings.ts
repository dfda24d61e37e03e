// Prints, as JSON, what calls make of the things that cost: each is counted where it is made, after the first calls are over.
import { calls } from './_calls.ts'

const made: Record<string, number> = {}
const count = (name: string): void => void (made[name] = (made[name] ?? 0) + 1)

/** Puts a counting function in the place of a global one. */
function watch(holder: object, name: string, label = name): void {
  const original = Reflect.get(holder, name) as (...input: unknown[]) => unknown
  const counting = new Proxy(original, {
    apply(target, self, input) {
      count(label)
      return Reflect.apply(target, self, input)
    },
    construct(target, input, newTarget) {
      count(label)
      return Reflect.construct(target, input, newTarget) as object
    },
  })
  Object.defineProperty(holder, name, { value: counting, configurable: true, writable: true })
}

const run = calls[process.argv[2] ?? '']
if (run === undefined) throw new Error('which call?')
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'structuredClone'])
  watch(globalThis, name)
for (const name of ['AbortController', 'Error', 'TypeError', 'TextEncoder', 'TextDecoder', 'Date'])
  watch(globalThis, name)
watch(AbortSignal, 'any', 'AbortSignal.any')
watch(AbortSignal, 'timeout', 'AbortSignal.timeout')
watch(crypto, 'randomUUID')
watch(crypto, 'getRandomValues')
watch(JSON, 'parse', 'JSON.parse')

for (let index = 0; index < 10; index++) await run()
for (const name of Object.keys(made)) made[name] = 0
for (let index = 0; index < 100; index++) await run()
const each = Object.entries(made).filter(([, times]) => times > 0)
process.stdout.write(JSON.stringify(Object.fromEntries(each.map(([name, times]) => [name, times / 100]))))
