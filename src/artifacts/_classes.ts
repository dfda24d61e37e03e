import { BinaryArtifact, SpooledArtifact, TextArtifact, type ArtifactClass, type ArtifactQuery } from '../index.ts'

type Class = typeof SpooledArtifact

/** Returns a class and its base classes, the nearest first. They may come from another copy of the package. */
export function lineageOf(of: ArtifactClass): Class[] {
  const classes: Class[] = []
  for (let at: unknown = of; isClassOfArtifacts(at); at = Object.getPrototypeOf(at)) classes.push(at)
  return classes
}

function isClassOfArtifacts(value: unknown): value is Class {
  const prototype: unknown = typeof value === 'function' ? value.prototype : undefined
  return typeof prototype === 'object' && prototype !== null && Symbol.for('toolwright.artifact') in prototype
}

/** Returns the queries that a class itself declares, without those of its base classes. */
export function ownQueries(of: Class): Readonly<Record<string, ArtifactQuery>> {
  return Object.hasOwn(of, 'queries') ? of.queries : {}
}

/** Whether a class is or extends another. Classes of another copy of the package are compared by `kind`. */
export function isKindOf(of: ArtifactClass, another: ArtifactClass): boolean {
  const wanted = another as unknown as Class
  return lineageOf(of).some(
    (each) =>
      each === wanted || (Object.hasOwn(each, 'kind') && Object.hasOwn(wanted, 'kind') && each.kind === wanted.kind),
  )
}

/** Any artifact that has lines, that is, any but a `BinaryArtifact`. */
export class ReadableArtifact extends TextArtifact {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && hasLines(value.constructor as ArtifactClass)
  }
}

/** Whether artifacts of a class have lines. */
export function hasLines(of: ArtifactClass): boolean {
  return !isKindOf(of, BinaryArtifact)
}
