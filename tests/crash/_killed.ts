// What the processes of the crash tests share: each waits for a word, and kills itself at a moment.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { Journal } from 'toolwright/records'

/** Waits until the parent writes. Ends the process if the parent has ended. */
export async function waitForWord(): Promise<void> {
  const isWanted = await new Promise((resolve) => {
    process.stdin.once('data', () => resolve(true))
    process.stdin.once('end', () => resolve(false))
  })
  if (isWanted !== true) process.exit()
}

/** Returns what counts the moments of the process, and kills it at the last; `0` for never. */
export function momentsUntil(lastMoment: number): () => void {
  let moments = 0
  return () => {
    if (++moments === lastMoment) process.kill(process.pid, 'SIGKILL')
  }
}

/** Adds a line to a file, on the disk: that it was written is a fact that no crash takes back. */
export function leaveTrace(path: string, line: string, moment: () => void): void {
  moment()
  const file = openSync(path, 'a', 0o600)
  writeSync(file, `${line}\n`)
  fsyncSync(file)
  closeSync(file)
  moment()
}

/** Returns a journal that lets the process die before and after each write. */
export function mortal(journal: Journal, moment: () => void): Journal {
  const around = async <Value>(change: () => Value | Promise<Value>): Promise<Value> => {
    moment()
    const value = await change()
    moment()
    return value
  }
  return {
    isDurable: journal.isDurable,
    claim: (record, owner) => around(() => journal.claim(record, owner)),
    write: (record, fence) => around(() => journal.write(record, fence)),
    read: (invocationId) => journal.read(invocationId),
    takeOver: (invocationId, fence, owner) => around(() => journal.takeOver(invocationId, fence, owner)),
    list: (query, report) => journal.list(query, report),
    beat: (owner) => journal.beat(owner),
  }
}
