/** A channel between the pages of one origin. */
interface PageChannel {
  addEventListener(name: 'message', listener: (event: { readonly data: unknown }) => void): void
  postMessage(message: unknown): void
  close(): void
}

interface Listens {
  addEventListener(name: string, listener: (event: { readonly persisted?: boolean }) => void): void
  removeEventListener(name: string, listener: (event: { readonly persisted?: boolean }) => void): void
}

/** What a page has, and other platforms may lack. */
export interface PageGlobals extends Partial<Listens> {
  readonly document?: Listens & { readonly visibilityState: string }
  readonly navigator?: {
    readonly locks?: {
      request(name: string, options: { readonly signal: AbortSignal }, run: () => Promise<void>): Promise<void>
    }
  }
  readonly BroadcastChannel?: new (name: string) => PageChannel
  readonly reportError?: (error: unknown) => void
}

/** Returns the page that this module runs in. */
export function thePage(): PageGlobals {
  return globalThis as unknown as PageGlobals
}

/** Waits some milliseconds. It ends early if `wake` is called with its function. */
export function sleep(milliseconds: number, wake: (end: () => void) => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    wake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
