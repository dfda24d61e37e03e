import type { SpooledArtifact } from './artifact.ts'

// A registered symbol, so that two copies of the package in one process recognise each other's artifacts.
export const artifactBrand: unique symbol = Symbol.for('toolwright.artifact') as never

/** Whether a value is an artifact of any copy of the package. */
export function isArtifact(value: unknown): value is SpooledArtifact {
  return typeof value === 'object' && value !== null && artifactBrand in value
}

/** Whether a value is `SpooledArtifact` or a subclass of it, of any copy of the package. */
export function isArtifactClass(value: unknown): boolean {
  const prototype: unknown = typeof value === 'function' ? value.prototype : undefined
  return typeof prototype === 'object' && prototype !== null && artifactBrand in prototype
}
