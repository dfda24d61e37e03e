import { BinaryArtifact, SpooledArtifact, TextArtifact, type ArtifactClass, type ArtifactQuery } from '../index.ts'

type Class = typeof SpooledArtifact

/** A class and those that it extends, the nearest first; they may be of another copy of the package. */
export function lineageOf(of: ArtifactClass): Class[] {
  const classes: Class[] = []
  for (let at: unknown = of; isArtifactClass(at); at = Object.getPrototypeOf(at)) classes.push(at)
  return classes
}

function isArtifactClass(value: unknown): value is Class {
  const prototype: unknown = typeof value === 'function' ? value.prototype : undefined
  return typeof prototype === 'object' && prototype !== null && Symbol.for('toolwright.artifact') in prototype
}

/** What a class itself says may be asked of its artifacts. */
export function ownQueries(of: Class): Readonly<Record<string, ArtifactQuery>> {
  return Object.hasOwn(of, 'queries') ? of.queries : {}
}

/** Whether artifacts of one class are such of another. */
export function isKindOf(of: ArtifactClass, another: ArtifactClass): boolean {
  const wanted = another as unknown as Class
  return lineageOf(of).some(
    (each) =>
      each === wanted || (Object.hasOwn(each, 'kind') && Object.hasOwn(wanted, 'kind') && each.kind === wanted.kind),
  )
}

/** Every artifact that has lines: what is not said to be binary. */
export class ReadableArtifact extends TextArtifact {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && isReadable(value.constructor as ArtifactClass)
  }
}

/** Whether artifacts of a class have lines. */
export function isReadable(of: ArtifactClass): boolean {
  return !isKindOf(of, BinaryArtifact)
}
