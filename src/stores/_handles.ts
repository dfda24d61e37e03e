import { ArtifactError } from '../index.ts'

const pattern = /^artifact_[0-9a-f]{40}$/

/** A handle that nobody can guess. */
export function newHandle(): string {
  const random = crypto.getRandomValues(new Uint8Array(20))
  return `artifact_${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Whether something can be a handle of ours at all: then it is safe in a path, a key or a statement. */
export function isHandle(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value)
}

/** The same answer for a handle that never was, is gone, or is of another session. */
export function noArtifact(handle: unknown): ArtifactError {
  const words = JSON.stringify(String(handle).slice(0, 80))
  return new ArtifactError(`There is no artifact ${words} in this session. Call the tool again.`)
}

/** The refusal of what is larger than a store keeps. */
export function tooLarge(maximumBytes: number): ArtifactError {
  const most = maximumBytes.toLocaleString('en')
  return new ArtifactError(
    `The result is larger than the ${most} bytes that the store keeps of one (\`maximumBytes\`).`,
  )
}
