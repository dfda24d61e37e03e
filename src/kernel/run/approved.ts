import { setApproval, type Authorized, type Confirmed, type Verdict } from '../call/parcel.ts'
import type { GatesContext } from '../executor-context.ts'

/** Asks a person for the approval of a call. Meanwhile the later calls of its turn go on. */
export async function approved(authorized: Authorized, kernel: GatesContext, ask: Verdict['ask']): Promise<Confirmed> {
  authorized.order?.pass(authorized) // a person may take hours
  const approval = await kernel.approve(authorized, ask, kernel)
  authorized.order?.rejoin(authorized)
  return setApproval(authorized, approval)
}
