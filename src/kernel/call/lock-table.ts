import type { ToolTimeoutError } from '../errors.ts'
import type { Deadline } from './deadline.ts'
import type { LockKey } from './lock-keys.ts'
import { isWithin } from './lock-parents.ts'

/** The part of a call that locks need. */
export interface LockedCall {
  readonly name: string
  readonly invocationId: string
  readonly session: string
  readonly deadline: Deadline
  readonly claim: Claim | undefined
  readonly isRunning: boolean
  /** Set once the tool is resolved. */
  readonly tool?: { readonly traits: { readonly concurrent: boolean } } | undefined
  /** The call whose handler makes this one, and waits for it. */
  readonly parent?: LockedCall | undefined
}

// How a claim uses a node: it reads or writes something below it, or everything. The mode to write is that to read plus one.
const [intendsToRead, intendsToWrite, readsAll, writesAll] = [0, 1, 2, 3] as const
/** The modes that a mode cannot stand beside. */
const opposed: readonly (readonly number[])[] = [
  [writesAll],
  [readsAll, writesAll],
  [intendsToWrite, writesAll],
  [intendsToRead, intendsToWrite, readsAll, writesAll],
]
const [amongHeld, amongWaiting] = [0, 4] as const

/** How many empty nodes may be kept for the next claims of the same things. */
const mostEmpty = 1_000

/** A call's claim of all that it touches: it holds all of it, or waits and holds nothing. */
export class Claim {
  readonly call: LockedCall
  readonly keys: readonly LockKey[]
  /** The order of arrival. */
  readonly place: number
  /** Whether the call counts among those of its session. */
  readonly isInSession: boolean
  /** The first of its entries: that of its session, then those of its keys, each from the shortest prefix on. */
  entries: ClaimEntry | undefined = undefined
  isHolding = false
  /** Whether its entries are in the lists of their nodes. */
  isListed = false
  /** Whether its call has settled while its work goes on. */
  isLate = false
  /** What it waits for, while it waits. */
  blocker: ClaimEntry | undefined = undefined
  /** Those that wait for it. */
  dependents: Set<Claim> | undefined = undefined
  /** Whether what it waits for in the end is work whose own call is over. */
  isStalled = false
  /** When it began to wait, or what it waits for moved, in milliseconds of the monotonic clock. */
  movedAt = 0
  begin: (() => void) | undefined = undefined
  refuse: ((error: ToolTimeoutError) => void) | undefined = undefined
  timer: ReturnType<typeof setTimeout> | undefined = undefined

  constructor(call: LockedCall, keys: readonly LockKey[], place: number, isInSession: boolean) {
    this.call = call
    this.keys = keys
    this.place = place
    this.isInSession = isInSession
  }
}

/** A claim in one list of a node. Lists are in the order of arrival. */
export class ClaimEntry {
  readonly claim: Claim
  readonly node: LockNode
  readonly mode: number
  /** The key that it comes from; none stands for the whole session. */
  readonly key: LockKey | undefined
  before: ClaimEntry | undefined = undefined
  after: ClaimEntry | undefined = undefined
  /** The next entry of the claim. */
  next: ClaimEntry | undefined = undefined

  constructor(claim: Claim, node: LockNode, mode: number, key: LockKey | undefined) {
    this.claim = claim
    this.node = node
    this.mode = mode
    this.key = key
  }
}

/** What claims may be made of: a session, or a key and what is below it. */
class LockNode {
  readonly path: string
  // Of those that hold, by mode, then of those that wait.
  readonly first: (ClaimEntry | undefined)[] = [undefined, undefined, undefined, undefined]
  readonly last: (ClaimEntry | undefined)[] = [undefined, undefined, undefined, undefined]
  size = 0

  constructor(path: string) {
    this.path = path
  }
}

/** What is claimed, as trees of keys with intentions on every prefix, and as sessions. */
export class LockTable {
  #keys = new Map<string, LockNode>()
  readonly #sessions = new Map<string, LockNode>()
  #mostKeys = mostEmpty
  /** How many claims hold or wait. */
  #count = 0
  /** The claim that holds while there is no other. Nothing is looked up for it before another comes. */
  #only: Claim | undefined

  /** Whether claims of a session itself count, since one of its calls runs alone. */
  counts(session: string): boolean {
    return this.#sessions.size > 0 && this.#sessions.has(session)
  }

  /** Lets a claim hold its keys, if no other holds or waits. Returns whether it does. */
  holdOnly(claim: Claim): boolean {
    if (this.#count > 0) return false
    this.#count++
    this.#only = claim
    claim.isHolding = true
    return true
  }

  /** Adds its session to a claim that has its keys. */
  addSession(claim: Claim, isAlone: boolean): void {
    const { session } = claim.call
    const node = this.#sessions.get(session) ?? new LockNode(session)
    this.#sessions.set(session, node)
    const entry = new ClaimEntry(claim, node, isAlone ? writesAll : readsAll, undefined)
    entry.next = claim.entries
    claim.entries = entry
    if (claim.isListed) link(entry, claim.isHolding ? amongHeld : amongWaiting)
  }

  /** Adds its keys to a claim that is not listed yet. The only claim so far takes its place in the lists first. */
  addKeys(claim: Claim): void {
    const only = this.#only
    if (only !== undefined) {
      this.remove(only)
      this.addKeys(only)
      this.hold(only)
    }
    let last: ClaimEntry | undefined
    for (const key of claim.keys) {
      const { path, isWrite } = key
      for (let end = 0; end >= 0;) {
        end = path.indexOf('/', end + 1)
        const node = this.#nodeOf(end < 0 ? path : path.slice(0, end))
        const entry = new ClaimEntry(claim, node, (end < 0 ? readsAll : intendsToRead) + Number(isWrite), key)
        if (last === undefined) claim.entries = entry
        else last.next = entry
        last = entry
      }
    }
  }

  #nodeOf(path: string): LockNode {
    const present = this.#keys.get(path)
    if (present !== undefined) return present
    const node = new LockNode(path)
    this.#keys.set(path, node)
    return node
  }

  /** Returns what a claim has to wait for: one that holds, or one that came before and waits too. */
  blockerOf(claim: Claim): ClaimEntry | undefined {
    if (claim.call.parent !== undefined) return blockerWithin(claim)
    for (let entry = claim.entries; entry !== undefined; entry = entry.next) {
      const { first, last } = entry.node
      for (const mode of opposed[entry.mode]!) {
        const isOwnList = mode === entry.mode && claim.isListed
        const earlier = isOwnList ? entry.before : earliest(first, last, mode + amongWaiting, claim)
        if (earlier !== undefined) return earlier
        const holding = last[mode + amongHeld]
        if (holding !== undefined) return holding
      }
    }
    return undefined
  }

  /** Lists a claim among those that wait. */
  wait(claim: Claim): void {
    linkAll(claim, amongWaiting)
    claim.isListed = true
    this.#count++
  }

  /** Lists a claim among those that hold. */
  hold(claim: Claim): void {
    if (claim.isListed) unlinkAll(claim, amongWaiting)
    else this.#count++
    linkAll(claim, amongHeld)
    claim.isListed = true
    claim.isHolding = true
  }

  remove(claim: Claim): void {
    this.#count--
    this.#only = undefined
    unlinkAll(claim, claim.isHolding ? amongHeld : amongWaiting)
    for (let entry = claim.entries; entry !== undefined; entry = entry.next) {
      if (entry.key === undefined) this.#forgetSession(entry.node)
    }
    if (this.#keys.size <= this.#mostKeys) return
    // All at once: what is deleted from a map and added again, as a prefix would be each time, slows the map down.
    this.#keys = new Map([...this.#keys].filter(([, { size }]) => size > 0))
    this.#mostKeys = Math.max(mostEmpty, 2 * this.#keys.size)
  }

  /** Stops to count a session if no call claims all of it any more: its other calls pay nothing then. */
  #forgetSession({ path, first }: LockNode): void {
    if (first[writesAll + amongHeld] !== undefined || first[writesAll + amongWaiting] !== undefined) return
    this.#sessions.delete(path)
    for (const list of [readsAll + amongHeld, readsAll + amongWaiting]) {
      for (let entry = first[list]; entry !== undefined; entry = entry.after) entry.claim.entries = entry.next
    }
  }
}

/**
 * Returns what a claim of a call within another has to wait for: one that holds, unless the call is within it, or one of the same
 * parent that came before. Others that wait may wait for the parent, so it overtakes them.
 */
function blockerWithin(claim: Claim): ClaimEntry | undefined {
  const { call, place } = claim
  for (let own = claim.entries; own !== undefined; own = own.next) {
    const { node, mode } = own
    for (const against of opposed[mode]!) {
      for (let entry = node.first[against + amongHeld]; entry !== undefined; entry = entry.after) {
        if (entry.claim !== claim && !isWithin(call, entry.claim.call)) return entry
      }
      for (let entry = node.first[against + amongWaiting]; entry !== undefined; entry = entry.after) {
        if (entry.claim.place >= place) break
        if (entry.claim.call.parent === call.parent) return entry
      }
    }
  }
  return undefined
}

/** Returns one that waits and came before: the last of all if all did, else the first. */
function earliest(
  first: readonly (ClaimEntry | undefined)[],
  last: readonly (ClaimEntry | undefined)[],
  list: number,
  { place }: Claim,
): ClaimEntry | undefined {
  const latest = last[list]
  if (latest === undefined) return undefined
  if (latest.claim.place < place) return latest
  const oldest = first[list]!
  return oldest.claim.place < place ? oldest : undefined
}

/** Puts the entries of a claim into the lists of their nodes, and leaves out those that the claim has there already. */
function linkAll({ entries }: Claim, kind: number): void {
  let last = entries
  for (let entry = entries; entry !== undefined; entry = entry.next) {
    if (link(entry, kind)) last = entry
    else last!.next = entry.next
  }
}

function unlinkAll({ entries }: Claim, kind: number): void {
  for (let entry = entries; entry !== undefined; entry = entry.next) unlink(entry, kind)
}

/**
 * Puts an entry into a list of its node, behind those that came before. It is nearly always the last.
 *
 * @returns Whether the claim had none there yet: keys share their prefixes.
 */
function link(entry: ClaimEntry, kind: number): boolean {
  const { first, last } = entry.node
  const list = entry.mode + kind
  let before = last[list]
  if (before?.claim === entry.claim) return false
  while (before !== undefined && before.claim.place > entry.claim.place) before = before.before
  const after = before === undefined ? first[list] : before.after
  entry.before = before
  entry.after = after
  if (before === undefined) first[list] = entry
  else before.after = entry
  if (after === undefined) last[list] = entry
  else after.before = entry
  entry.node.size++
  return true
}

function unlink({ before, after, node, mode }: ClaimEntry, kind: number): void {
  node.size--
  const list = mode + kind
  if (before === undefined) node.first[list] = after
  else before.after = after
  if (after === undefined) node.last[list] = before
  else after.before = before
}
