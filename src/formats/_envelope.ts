/**
 * Wraps text in tags that say whether it is to be trusted, with a random number that whoever wrote the text cannot have
 * known: so nothing in the text can close the envelope, or pass for another one.
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
