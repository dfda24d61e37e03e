import { ToolDownstreamError } from '../errors.ts'

/** A conflict as the locks know it. */
export interface LockKey {
  /** The segments, after a `/` and the session if that is the scope: unequal for different things. */
  readonly path: string
  readonly isWrite: boolean
  /** The key as the tool gave it. */
  readonly name: string
}

const mostConflicts = 256
const longestLockKey = 1_024

/** @throws `E_TOOL_DOWNSTREAM_ERROR` if the tool gave something else than conflicts. */
export function lockKeysOf(conflicts: unknown, toolName: string, session: string): readonly LockKey[] {
  if (!Array.isArray(conflicts) || conflicts.length > mostConflicts) {
    throw wrongConflicts(toolName, `no array of at most ${mostConflicts} conflicts`)
  }
  // An array to which elements are added keeps room for more of them, and most calls have one key.
  if (conflicts.length === 1) return [lockKeyOf(conflicts[0], toolName, session)]
  const keys: LockKey[] = []
  for (let index = 0; index < conflicts.length; index++) keys.push(lockKeyOf(conflicts[index], toolName, session))
  return keys
}

function lockKeyOf(conflict: unknown, toolName: string, session: string): LockKey {
  if (typeof conflict === 'string') return { path: segmentsOf(conflict, toolName), isWrite: true, name: conflict }
  const members: { readonly key?: unknown; readonly mode?: unknown; readonly scope?: unknown } = conflict ?? {}
  const { key, mode = 'write', scope = 'executor' } = members
  const segments = segmentsOf(key, toolName)
  if (mode !== 'read' && mode !== 'write') throw wrongConflicts(toolName, 'another mode than `read` or `write`')
  if (scope !== 'session' && scope !== 'executor') {
    throw wrongConflicts(toolName, 'another scope than `session` or `executor`')
  }
  const path = scope === 'executor' ? segments : `/${JSON.stringify(session)}/${segments}`
  return { path, isWrite: mode === 'write', name: key as string }
}

/** Returns a key without its empty segments. */
function segmentsOf(key: unknown, toolName: string): string {
  if (typeof key !== 'string' || key.length > longestLockKey) {
    throw wrongConflicts(toolName, `a key that is no text of at most ${longestLockKey} characters`)
  }
  const hasEmpty = key.includes('/') && (key.startsWith('/') || key.endsWith('/') || key.includes('//'))
  const segments = hasEmpty ? withoutEmpty(key) : key
  if (segments === '') throw wrongConflicts(toolName, 'a key without a segment')
  return segments
}

/** Whether one who holds a key holds another too. */
export function covers({ path, isWrite }: LockKey, other: LockKey): boolean {
  return (isWrite || !other.isWrite) && (other.path === path || other.path.startsWith(`${path}/`))
}

/** Returns the keys of a call that touch the same as a key of another. */
export function overlappingKeys(keys: readonly LockKey[], { path }: LockKey): readonly LockKey[] {
  return keys.filter((own) => own.path === path || own.path.startsWith(`${path}/`) || path.startsWith(`${own.path}/`))
}

function withoutEmpty(key: string): string {
  return key
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
}

function wrongConflicts(toolName: string, what: string): ToolDownstreamError {
  const words = `\`conflicts\` of tool ${JSON.stringify(toolName)} returned ${what}. The call was not started.`
  return new ToolDownstreamError(`${words} Return texts, or objects such as { key: 'file:/a', mode: 'read' }.`)
}
