import { tool, type Schema, type Tool } from 'toolwright'
import type { LookUp } from 'toolwright/conformance/validators'

export {
  describeValidator as validatorConformance,
  type LookUp,
  type ValidatorFixtures,
} from 'toolwright/conformance/validators'

/** How often a look-up was asked for one call, which was let through. */
export async function timesAsked(lookingUp: (lookUp: LookUp) => Schema, isSynchronous = false): Promise<number> {
  let asked = 0
  const inputSchema = lookingUp(() => {
    asked++
    return isSynchronous ? true : Promise.resolve(true)
  })
  const probe = tool({ name: 'probe', description: 'x', inputSchema, audience: 'user', handler: () => 1 }) as Tool
  await probe({ id: 'known' })
  return asked
}
