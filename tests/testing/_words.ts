/** The message of what is thrown, or words that nothing was. */
export function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was thrown'
}
