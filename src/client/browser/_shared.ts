import { thePage } from './_page.ts'

/** Whether the pages of this origin can share a stream. */
export function canShare(): boolean {
  const { BroadcastChannel, navigator } = thePage()
  return BroadcastChannel !== undefined && navigator?.locks !== undefined
}

/**
 * Lets one page of all that use a name listen, and tell the others. A browser has six connections to a server of HTTP/1.1, so
 * six pages with a stream of their own would leave no connection for an answer.
 *
 * @param receive Called with what the listening page tells.
 * @param lead Listens, until the signal aborts. It is given the function that tells the others.
 */
export async function sharePages<Message>(
  name: string,
  signal: AbortSignal,
  receive: (message: Message) => void,
  lead: (tell: (message: Message) => void) => Promise<void>,
): Promise<void> {
  const { BroadcastChannel, navigator } = thePage()
  const channel = new BroadcastChannel!(name)
  channel.addEventListener('message', ({ data }) => receive(data as Message))
  try {
    const tell = (message: Message): void => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
      channel.postMessage(message)
    }
    await navigator!.locks!.request(name, { signal }, () => lead(tell))
  } finally {
    channel.close()
  }
}
