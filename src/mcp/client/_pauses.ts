import { unref } from '#clock'

/** The longest pause between two attempts, in milliseconds, even if a server asks for a longer one. */
export const longestDelay = 30_000

/** Waits without keeping the process alive. */
export function unheldPause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    unref(setTimeout(resolve, milliseconds))
  })
}
