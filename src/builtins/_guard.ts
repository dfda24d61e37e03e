import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { refusal } from './_words.ts'

/**
 * Reads which process groups to hold until its input ends, that is, until this process has ended in any way. Then it ends
 * those groups, and the other groups of their sessions. It stops them all first: what is stopped makes no other, and its numbers
 * go to nothing else.
 */
const guardScript = `
trap '' HUP INT QUIT TERM
held=' '
while read -r sign group; do
  case $sign in
    +)
      case $held in
        *" $group "*) ;;
        *) held="$held$group " ;;
      esac
      ;;
    *) held="\${held%% $group *} \${held#* $group }" ;;
  esac
done
sessions=' '
for group in $held; do kill -STOP "-$group" && sessions="$sessions$group "; done
[ "$sessions" = ' ' ] && exit
stopped=$sessions
found=yes
while [ "$found" ]; do
  found=
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    set -- \${line##*) }
    [ "$4" ] || continue
    case $sessions in *" $4 "*) ;; *) continue ;; esac
    case $stopped in *" $3 "*) continue ;; esac
    kill -STOP "-$3"
    stopped="$stopped$3 "
    found=yes
  done
done
for group in $stopped; do kill -KILL "-$group"; done`
const mostStarts = 3

let sharedGuard: Guard | undefined
let sharers = 0

/** Returns the guard of this process, for one more that will call `releaseGuard`. */
export function takeGuard(): Guard {
  sharers++
  return (sharedGuard ??= new Guard())
}

export function releaseGuard(guard: Guard): void {
  if (--sharers === 0) guard.close()
}

/**
 * Ends process groups when this process has ended, even by SIGKILL: a process of its own that this one tells of each group.
 */
export class Guard {
  readonly #groups = new Set<number>()
  #process: ChildProcess | undefined

  /**
   * Resolves when the group will not outlive this process.
   *
   * @throws `ToolFailure` if no guard can be started.
   */
  async hold(group: number): Promise<void> {
    this.#groups.add(group)
    for (let starts = 0; starts < mostStarts; starts++) {
      const isRunning = this.#process !== undefined
      const message = isRunning ? `+ ${group}\n` : this.#all()
      if (await this.#tell((this.#process ??= this.#start()), message)) return
    }
    this.#groups.delete(group)
    throw refusal('The command was not started: nothing would end it together with this process.')
  }

  release(group: number): void {
    if (!this.#groups.delete(group) || this.#process === undefined) return
    void this.#tell(this.#process, `- ${group}\n`)
  }

  /** Lets the process of the guard end, if there is one. */
  close(): void {
    this.#process?.stdin?.end()
    this.#process = undefined
  }

  #all(): string {
    return [...this.#groups].map((group) => `+ ${group}\n`).join('')
  }

  #start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', guardScript], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const isOver = (): void => {
      if (this.#process !== child) return
      this.#process = undefined
      if (this.#groups.size === 0) return
      this.#process = this.#start()
      void this.#tell(this.#process, this.#all())
    }
    child.once('error', () => {
      if (this.#process === child) this.#process = undefined
    })
    child.once('exit', isOver)
    child.stdin?.on('error', () => {})
    // Neither it nor its input keeps this process running.
    child.unref()
    ;(child.stdin as Socket).unref()
    return child
  }

  /** Returns whether it was told: it may have ended. */
  async #tell(child: ChildProcess, words: string): Promise<boolean> {
    const isSent = await new Promise<boolean>((resolve) => {
      if (child.pid === undefined || child.stdin === null) resolve(false)
      else child.stdin.write(words, (error) => resolve(error === null || error === undefined))
    })
    if (!isSent && this.#process === child) this.#process = undefined
    return isSent
  }
}
