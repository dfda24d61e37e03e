/** The longest pause between two attempts, in milliseconds, even if a server asks for a longer one. */
export const longestDelay = 30_000

/** Waits without keeping the process alive. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    unref(setTimeout(resolve, milliseconds))
  })
}

/** Lets the process end before a timer, on platforms that can. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}
