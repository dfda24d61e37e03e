import type { LoweredSchema, TranslationScope } from './schema.ts'

/**
 * Returns a value as the tool takes it, or, with `isUp: false`, in the lowered shape. What does not look lowered is returned as
 * it is. Never throws.
 *
 * @param accepts Returns whether a value fits a branch of a union. Default: only its shape decides.
 */
export function translate(
  { way }: LoweredSchema,
  value: unknown,
  isUp: boolean,
  accepts?: TranslationScope['accepts'],
): unknown {
  try {
    // The steps bound the work that a hostile value can cause.
    return way(value, { isUp, steps: { left: 1_000_000 }, accepts })
  } catch {
    return value // it is nested too deeply, or no JSON, or its schema means only itself
  }
}
