import { ArtifactError } from '../errors.ts'

const pattern = /^artifact_[0-9a-f]{40}$/

/** Makes a handle that cannot be guessed. */
export function newHandle(): string {
  const random = crypto.getRandomValues(new Uint8Array(20))
  return `artifact_${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Whether a value has the form of a handle. Only then is it safe in a path, a key or a statement. */
export function isHandle(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value)
}

/** The error for a handle that never existed, was deleted, or belongs to another session: one text, so it reveals nothing. */
export function noArtifact(handle: unknown): ArtifactError {
  const words = JSON.stringify(String(handle).slice(0, 80))
  return new ArtifactError(`There is no artifact ${words} in this session. Call the tool that returned it again.`)
}

/** The error for a source that is larger than the limit of a store. */
export function tooLargeSource(maximumBytes: number): ArtifactError {
  const most = maximumBytes.toLocaleString('en')
  return new ArtifactError(`The result is larger than the ${most} bytes that the store accepts (\`maximumBytes\`).`)
}
