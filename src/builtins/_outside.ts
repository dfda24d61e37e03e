import { sep } from 'node:path'
import type { ToolContext } from '../index.ts'
import type { Confirmed, Decision, Middleware, Validated } from '../extension.ts'
import { Sessions } from './_sessions.ts'
import { quotedPath, refusal } from './_words.ts'
import type { FileAccess, Grant, Sandbox } from './sandbox.ts'

const mostAskedCalls = 10_000
const mostGrants = 100

interface AskedPath {
  readonly path: string
  readonly real: string
}

/**
 * Lets a person grant access to paths outside the workspace. The path is resolved before the question, and the question
 * shows where it leads; if it leads elsewhere by the time of the answer, the call is refused.
 */
export class Outside {
  readonly #sandbox: Sandbox
  readonly #asked = new Map<string, readonly AskedPath[]>()
  readonly #calls = new WeakMap<ToolContext, readonly Grant[]>()
  readonly #sessions = new Sessions<{ readonly grant: Grant; readonly write: boolean }[]>(
    () => [],
    (grants) => grants.forEach(({ grant }) => grant.revoke()),
  )

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  /** The files that a call may touch by a path: those of the workspace, or what was granted. */
  filesFor(path: string, context: ToolContext): FileAccess {
    const granted = [
      ...(this.#calls.get(context) ?? []),
      ...this.#sessions.of(context.session).map(({ grant }) => grant),
    ]
    return granted.find((grant) => grant.covers(path))?.files ?? this.#sandbox
  }

  /** The policy: asks if a path leads out and the session has no grant for it. */
  async decide(call: Validated, context: ToolContext, paths: readonly string[], write: boolean): Promise<Decision> {
    const askedPaths: AskedPath[] = []
    for (const path of new Set(paths)) {
      const real = await this.#sandbox.outside?.(path)
      if (real === undefined || real === null || this.#isGranted(path, real, write, context.session)) continue
      askedPaths.push({ path, real })
    }
    const before = this.#asked.get(call.invocationId)
    if (askedPaths.length === 0) {
      this.#asked.delete(call.invocationId)
      return undefined
    }
    if (call.resumption !== undefined && (before === undefined || !areSamePaths(before, askedPaths))) {
      return { decision: 'deny', reason: 'The path leads elsewhere than when it was approved. Call again' }
    }
    this.#asked.set(call.invocationId, askedPaths)
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= mostAskedCalls) break
      this.#asked.delete(oldest)
    }
    const where = askedPaths.map(({ real }) => real)
    const reason = `${write ? 'It would write' : 'It would read'} outside the workspace: ${where.map(quotedPath).join(', ')}`
    return { decision: 'ask', reason, meta: { outside: where, write } }
  }

  /** The middleware: opens what was approved for the call, or for the session. */
  around(write: boolean): Middleware {
    return async (call: Confirmed, context, next) => {
      const askedPaths = this.#asked.get(call.invocationId)
      if (askedPaths === undefined || call.approval?.decision !== 'allow' || this.#sandbox.grant === undefined)
        return next()
      const grants: Grant[] = []
      const isForSession = call.approval.always === true
      try {
        for (const { path, real } of askedPaths) {
          const grant = await this.#sandbox.grant(path, { write })
          grants.push(grant)
          if (grant.path !== real)
            throw refusal(`${quotedPath(path)} leads elsewhere than when it was approved.`, 'Call again.')
        }
        this.#calls.set(context, grants)
        if (isForSession) this.#keep(context.session, grants, write)
        return await next()
      } finally {
        if (!isForSession) for (const grant of grants) grant.revoke()
      }
    }
  }

  close(): void {
    this.#sessions.clear()
  }

  #keep(session: string, grants: readonly Grant[], write: boolean): void {
    const sessionGrants = this.#sessions.of(session)
    sessionGrants.unshift(...grants.map((grant) => ({ grant, write })))
    for (const { grant } of sessionGrants.splice(mostGrants)) grant.revoke()
  }

  #isGranted(path: string, real: string, write: boolean, session: string): boolean {
    return this.#sessions
      .of(session)
      .some(
        ({ grant, write: mayWrite }) =>
          (mayWrite || !write) && (grant.path === real || isBelow(grant, real)) && grant.covers(path),
      )
  }
}

function isBelow({ path }: Grant, real: string): boolean {
  return real.startsWith(path + sep)
}

function areSamePaths(before: readonly AskedPath[], now: readonly AskedPath[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ path, real }, index) => now[index]?.path === path && now[index].real === real)
  )
}
