import type { Identified } from '../kernel/call/parcel.ts'
import { isToolError } from '../kernel/errors.ts'
import { copyOfPlain } from '../kernel/json/copy.ts'
import type { SpooledArtifact } from '../kernel/result/artifact.ts'
import type { Issue } from '../kernel/schema/standard.ts'
import type { Validation } from '../kernel/schema/validator.ts'
import { isOf, type Reference, referenceMark, referencesIn } from './argument.ts'
import type { Keeping } from './store.ts'

/**
 * Opens the artifacts whose handles are in validated args. Returns a copy of the args with the artifacts in their places, or an
 * issue for each handle that names none of the class.
 */
export async function openArtifacts(input: unknown, { session }: Identified, keeping: Keeping): Promise<Validation> {
  const opening = Array.from(referencesIn(input), async ([reference, path]) => {
    return [reference, path, await openReferenced(reference, session, keeping)] as const
  })
  const artifacts = new Map<object, SpooledArtifact>()
  const issues: Issue[] = []
  for (const [reference, path, opened] of await Promise.all(opening)) {
    if (typeof opened === 'string') issues.push({ message: opened, path })
    else artifacts.set(reference, opened)
  }
  if (issues.length > 0) return { issues }
  return { value: copyOfPlain(input, (object) => artifacts.get(object) ?? object, Infinity) }
}

/** Opens one artifact. Returns words for the model if there is none, or if it is of another class. */
async function openReferenced(
  { [referenceMark]: { handle, Class } }: Reference,
  session: string,
  { shelf, guide }: Keeping,
): Promise<SpooledArtifact | string> {
  let opened: SpooledArtifact
  try {
    opened = await shelf.open(handle, session, [Class])
  } catch (cause) {
    if (isToolError(cause) && cause.code === 'E_ARTIFACT' && !cause.retryable) return cause.message
    throw cause
  }
  if (isOf(opened, Class)) return opened
  const { kind } = Class as unknown as typeof SpooledArtifact
  return `must be the handle of a ${kind} artifact, and is that of a ${opened.kind} artifact. ${guide(opened)}`.trimEnd()
}
