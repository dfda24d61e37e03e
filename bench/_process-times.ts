// The time of the processors that this process and the servers which it started have taken.
import { readdirSync, readFileSync } from 'node:fs'

/** What Linux counts the time of a process in, in nanoseconds. */
const tick = 1e7

/** Returns the time of the processors that this process and those below it have taken, in nanoseconds. Only Linux tells that of others. */
export function timeOfProcesses(): number {
  const { user, system } = process.cpuUsage()
  let time = (user + system) * 1e3
  const processes = process.platform === 'linux' ? allProcesses() : []
  const own = new Set([process.pid])
  // A process may have a smaller number than the one that started it: until none is added.
  for (let count = 0; count < own.size;) {
    count = own.size
    for (const { id, parent } of processes) if (own.has(parent)) own.add(id)
  }
  for (const { id, taken } of processes) if (own.has(id) && id !== process.pid) time += taken
  return time
}

function allProcesses(): { readonly id: number; readonly parent: number; readonly taken: number }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The name of a program may have spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [{ id: Number(name), parent: Number(fields[1]), taken: (Number(fields[11]) + Number(fields[12])) * tick }]
    } catch {
      return [] // it has ended
    }
  })
}
