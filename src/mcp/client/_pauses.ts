/** The longest pause between two attempts, however long a server asks to be left alone, in milliseconds. */
export const longestDelay = 30_000

/** Waits, and keeps no process alive for it. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    unref(setTimeout(resolve, milliseconds))
  })
}

/** Lets the process end before a timer does, where there are such processes. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}
