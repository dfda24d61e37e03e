/**
 * Returns text in tags that tell whether it is trusted. The tags contain a random number that the author of the text cannot
 * know, so the text cannot close the envelope or imitate another one.
 */
export function enclose(body: string, trusted: boolean): string {
  let nonce: string
  do nonce = random()
  while (body.includes(nonce))
  const tag = `${trusted ? 'trusted' : 'untrusted'}_content_${nonce}`
  return `<${tag}>\n${body}\n</${tag}>`
}

function random(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
