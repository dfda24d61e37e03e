import { InvalidConfigurationError } from '../errors.ts'
import { covers, overlappingKeys, type LockKey } from './lock-keys.ts'
import type { LockedCall } from './lock-table.ts'

/** Whether a call is within another, which waits for it. */
export function isWithin(call: LockedCall, other: LockedCall): boolean {
  for (let around = call.parent; around !== undefined; around = around.parent) if (around === other) return true
  return false
}

/**
 * Requires that a call wants no more of a thing than the calls around it hold, if they hold any of it: it would wait for them,
 * and they wait for it.
 *
 * @throws `E_INVALID_CONFIGURATION`.
 */
export function requireNoMore(call: LockedCall, keys: readonly LockKey[], isAlone: boolean): void {
  const around: LockedCall[] = []
  for (let parent = call.parent; parent !== undefined; parent = parent.parent) around.push(parent)
  const heldKeys = around.flatMap(({ claim }) => (claim?.isHolding === true ? claim.keys : []))
  for (const key of keys) {
    if (heldKeys.some((own) => covers(own, key))) continue
    const [less] = overlappingKeys(heldKeys, key)
    if (less !== undefined) throw beyondParents(`touch ${keyWords(key)}, and they hold only ${keyWords(less)}`)
  }
  const running = isAlone ? around.filter(({ isRunning }) => isRunning) : []
  if (running.length === 0 || running.some(({ tool }) => tool?.traits.concurrent === false)) return
  throw beyondParents('run beside no other of its session, and they do')
}

function keyWords({ name, isWrite }: LockKey): string {
  return `${JSON.stringify(name)} (${isWrite ? 'write' : 'read'})`
}

function beyondParents(what: string): InvalidConfigurationError {
  const words = `The call was not started: it would wait for the calls that it is within. It wants to ${what}.`
  return new InvalidConfigurationError(words)
}
