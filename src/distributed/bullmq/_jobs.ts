import type { Queue } from 'bullmq'
import { sha256 } from '#sha256'
import type { QueuedCall } from '../fleet.ts'

/** A job as a queue of BullMQ takes it. */
export type BullJob = Parameters<Queue['addBulk']>[0][number]

/** The most calls of one job. */
const mostInJob = 64
const longestIdInJob = 1_024

/**
 * Makes the jobs of calls that are sent at the same moment: calls share jobs, unless BullMQ has to order them or they may have a job
 * already. To make jobs of the same calls again makes the same jobs.
 */
export function jobsOf(calls: readonly QueuedCall[]): BullJob[] {
  const shared = new Map<string, QueuedCall>()
  const alone: BullJob[] = []
  for (const call of calls) {
    if (call.priority !== undefined || call.isAgain === true) alone.push(jobOf([call]))
    else shared.set(textOfCall(call), call)
  }
  const all = [...shared.values()]
  const count = Math.ceil(all.length / mostInJob)
  const share = Math.ceil(all.length / count)
  return [...Array.from({ length: count }, (_, job) => jobOf(all.slice(job * share, (job + 1) * share))), ...alone]
}

/** A call that waits again is another one, and so is one with another place. */
function textOfCall({ invocationId, attempts = 0, place }: QueuedCall): string {
  return JSON.stringify([invocationId, attempts, place])
}

/** BullMQ takes no id with a colon, and none that is a whole number. */
function jobOf(calls: readonly QueuedCall[]): BullJob {
  const { priority } = calls[0] ?? {}
  const opts = { jobId: `call-${sha256(calls.map(textOfCall).join(' '))}`, ...(priority !== undefined && { priority }) }
  return { name: 'call', data: dataOf(calls.map(({ invocationId }) => invocationId)), opts }
}

/** Makes the job of a call whose run was rejected so many times. */
export function jobAgain(invocationId: string, tries: number, delay: number, priority: number | undefined): BullJob {
  const jobId = `again-${sha256(invocationId)}`
  return { name: 'call', data: { invocationId, tries }, opts: { jobId, delay, ...(priority && { priority }) } }
}

/** A worker of an earlier release runs the first call, and the others are sent again. */
export function dataOf([invocationId, ...others]: readonly string[]): Readonly<Record<string, unknown>> {
  return { invocationId, ...(others.length > 0 && { others }) }
}

/** Returns the calls of a job. A forged job can only start what waits in the journal. */
export function callsOf(data: unknown): string[] {
  const { invocationId, others } = (data ?? {}) as Readonly<Record<string, unknown>>
  const ids: unknown[] = [invocationId, ...(Array.isArray(others) ? others.slice(0, mostInJob) : [])]
  return [...new Set(ids)].filter((id): id is string => typeof id === 'string' && id.length <= longestIdInJob)
}

/** Returns how often the run of a job's call was rejected. */
export function triesOf(data: unknown): number {
  const { tries } = (data ?? {}) as Readonly<Record<string, unknown>>
  return Number.isSafeInteger(tries) && Number(tries) > 0 ? Number(tries) : 0
}
