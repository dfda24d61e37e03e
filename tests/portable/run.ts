/** What a platform may lack. */
export type Need =
  | 'cookies' // requests that have them
  | 'decoder' // TextDecoder
  | 'env' // environment variables
  | 'eval' // code made of strings
  | 'files'
  | 'heads' // answers whose head is cut, as errors
  | 'hooks' // of the loader of modules
  | 'network' // an API of this machine
  | 'postgres'
  | 'processes'
  | 'realms' // a second one
  | 'redirects' // answers that say where they lead
  | 'serve' // a server of web requests, as Bun and Deno have one
  | 'sockets'
  | 'sqlite'
  | 'streams'
  | 'unpacking' // an error if an answer cannot be unpacked
  | 'web' // fetch, Request, Response, URL, Blob
  | 'yaml' // the package, which asks Deno for environment variables

/** What a host gives its cases. */
export interface Place {
  /** A folder to write in, if there are files. */
  readonly folder: string
  /** The connection string of a Postgres server, if there is one. */
  readonly postgres: string
  /** The address of an API that answers as it is told, if there is a network. */
  readonly api: string
  /** Its address at another origin. In a page, which cannot follow there, it is the same. */
  readonly otherApi: string
  /** Whether cases try all their values, which takes them long. Default: they try a few. */
  readonly isFull?: boolean
  /** Where random values begin. Default: 7. */
  readonly seed?: number
}

const nowhere: Place = { folder: '', postgres: '', api: '', otherApi: '' }

export interface Case {
  readonly name: string
  readonly needs?: readonly Need[]
  run(place: Place): unknown
}

export interface Outcome {
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly error: string }[]
  readonly skipped: readonly string[]
  readonly unhandled: readonly string[]
}

interface Events {
  addEventListener?(name: 'unhandledrejection', listener: (event: { readonly reason: unknown }) => void): void
  process?: { on?(name: 'unhandledRejection', listener: (reason: unknown) => void): unknown }
}

/**
 * Runs cases one after the other.
 *
 * @param lacks What the host lacks. The cases that need it are skipped.
 * @param limit Milliseconds for each case.
 */
export async function run(
  cases: readonly Case[],
  lacks: readonly Need[],
  place: Place = nowhere,
  limit = 20_000,
): Promise<Outcome> {
  const unhandled: string[] = []
  const events = globalThis as Events
  if (typeof events.process?.on === 'function')
    events.process.on('unhandledRejection', (reason) => unhandled.push(messageOf(reason)))
  else events.addEventListener?.('unhandledrejection', ({ reason }) => unhandled.push(messageOf(reason)))
  const failed: { name: string; error: string }[] = []
  const skipped: string[] = []
  let passed = 0
  for (const each of cases) {
    const { name, needs = [] } = each
    if (needs.some((need) => lacks.includes(need))) {
      skipped.push(name)
      continue
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('It hangs.')), limit)
    })
    try {
      await Promise.race([each.run(place), late])
      passed++
    } catch (error) {
      failed.push({ name, error: messageOf(error) })
    }
    clearTimeout(timer)
  }
  return { passed, failed, skipped, unhandled }
}

function messageOf(error: unknown): string {
  const { message, stack = '' } = (error ?? {}) as Partial<Error>
  const lines = stack.split('\n').filter((line) => line.includes('toolwright'))
  return `${message ?? String(error)} ${lines.slice(0, 2).join(' ')}`.slice(0, 600)
}
