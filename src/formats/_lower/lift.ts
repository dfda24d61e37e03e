import type { LoweredSchema, Node } from './schema.ts'

/** The most steps of one translation. They bound the work that a hostile value can cause. */
const mostSteps = 1_000_000

/** Returns a value as the tool takes it. What does not look lowered is returned as it is. Never throws. */
export function lift({ up }: LoweredSchema, value: unknown): unknown {
  if (up === undefined) return value
  try {
    return up(value, { steps: mostSteps })
  } catch {
    return value // it is nested too deeply, or its schema means only itself
  }
}

/**
 * Returns a value in the lowered shape. Never throws.
 *
 * @param accepts Returns whether a value fits a branch of a union. Default: only its shape decides.
 */
export function sink(
  { down }: LoweredSchema,
  value: unknown,
  accepts?: (schema: Node, value: unknown) => boolean,
): unknown {
  if (down === undefined) return value
  try {
    return down(value, { steps: mostSteps, accepts })
  } catch {
    return value // it is no JSON, or nested too deeply
  }
}
