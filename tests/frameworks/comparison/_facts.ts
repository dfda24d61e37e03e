import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { large, notesOf, pay, sceneIn, wait, type Compared, type Heard, type Scene } from './_scene.ts'

/** How a run ended: with words for the model, with an error for the application, or not at all. */
export type Ending =
  | { readonly is: 'told'; readonly words: string }
  | { readonly is: 'thrown'; readonly words: string }
  | { readonly is: 'waits' }

export interface Outcome {
  /** How often the handler ran. */
  readonly runs: number
  readonly ending: Ending
}

export interface Late extends Outcome {
  /** Whether the handler's own signal was aborted. */
  readonly isHandlerTold: boolean
}

/** What one process measures. */
export interface Measured {
  readonly wrongArgs: Outcome
  readonly unknownTool: Outcome
  readonly large: { readonly bytes: number; readonly tools: readonly string[] }
  readonly repeated: { readonly oneTurn: Outcome; readonly twoTurns: Outcome; readonly again: Outcome }
  readonly timeout?: Late
  readonly abort: Late
}

/** What is found after the process before was killed. */
export interface Found {
  readonly approval: { readonly before: number; readonly first: Outcome; readonly second: Outcome }
  /** Whether there is a trace of the call where the package stores what it knows; nothing if it stores nothing. */
  readonly isStored?: boolean
  readonly killed: Outcome
}

/**
 * Waits for a run, but not for ever. It counts ticks of this process: if the machine is slow, the ticks are late as well as what
 * is waited for.
 */
async function endingOf(run: Promise<Heard>): Promise<Ending> {
  const ended = run.then(
    (heard): Ending => ({ is: 'told', words: heard.resultOf(pay.id) ?? '' }),
    (error: unknown): Ending => ({ is: 'thrown', words: wordsOf(error) }),
  )
  const tick = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), 50))
  for (let ticks = 0; ticks < 60; ticks++) {
    const first = await Promise.race([ended, tick()])
    if (first !== undefined) return first
  }
  return { is: 'waits' }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error)
  return `${error.name}: ${error.message}`
}

async function outcomeOf(scene: Scene, run: Promise<Heard>, line: 'pay' | 'wait' = 'pay'): Promise<Outcome> {
  const ending = await endingOf(run)
  return { runs: notesOf(scene, line), ending }
}

const packages = join(import.meta.dirname, '..', 'npm', 'node_modules')

/** Throws if a package has what is said to be missing from it. */
async function requireAbsence({ name, noTimeout, noStorage }: Compared): Promise<void> {
  if (noTimeout !== undefined) {
    const files = globSync(noTimeout.files, { cwd: packages })
    const found = files.filter((file) => /time.?out/i.test(readFileSync(join(packages, file), 'utf8')))
    if (files.length === 0 || found.length > 0) throw new Error(`${name} may have a timeout now: ${found.join(' ')}`)
  }
  for (const module of noStorage?.modules ?? []) {
    const names = Object.keys((await import(module)) as object)
    const stores = names.filter((each) => /checkpoint|journal|persist|snapshot|storage|store/i.test(each))
    const found = stores.filter((each) => noStorage?.but.includes(each) !== true)
    if (found.length > 0) throw new Error(`${name} may store calls now: ${found.join(' ')}`)
  }
}

/** Measures what needs no other process. */
export async function measure(compared: Compared, folder: string): Promise<Measured> {
  await requireAbsence(compared)
  const { run } = compared
  const scene = (name: string, ...turns: Scene['turns']): Scene => sceneIn(folder, name, { turns })
  const outcome = (made: Scene): Promise<Outcome> => outcomeOf(made, run(made))
  const late = Promise.all([compared.noTimeout === undefined ? lateIn('timeout') : undefined, lateIn('abort')])
  const wrongArgs = await outcome(scene('wrong', [{ ...pay, args: { cents: 'five' } }]))
  const unknownTool = await outcome(scene('unknown', [{ ...pay, name: 'refund' }]))
  const oneTurn = await outcome(scene('one-turn', [pay, pay]))
  const twoTurns = await outcome(scene('two-turns', [pay], [pay]))
  const again = scene('again', [pay])
  await run(again)
  const repeated = { oneTurn, twoTurns, again: await outcome(again) }
  const log = scene('large', [{ ...pay, name: 'log', args: {} }])
  const heard = await run(log)
  const bytes = Buffer.byteLength(heard.resultOf(pay.id) ?? '')
  const own = log.offers.map(({ name }) => name)
  const tools = bytes < large ? heard.offered.filter((name) => !own.includes(name)) : []
  const [timeout, abort] = await late
  if (abort === undefined) throw new Error('Nothing was aborted.')
  return { wrongArgs, unknownTool, large: { bytes, tools }, repeated, ...(timeout && { timeout }), abort }

  /** A handler that ends when the scene is over. */
  async function lateIn(name: 'timeout' | 'abort'): Promise<Late> {
    const over = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const limits = name === 'timeout' ? { timeout: 100 } : { signal: leaving.signal }
    const made = sceneIn(folder, name, { turns: [[wait]], ...limits }, () => {
      if (name === 'abort') setTimeout(() => leaving.abort(), 100)
      return over.promise
    })
    const running = run(made)
    const measured = await outcomeOf(made, running, 'wait')
    over.resolve()
    await running.catch(() => {})
    return { ...measured, isHandlerTold: notesOf(made, 'aborted') > 0 }
  }
}

const asked = (folder: string): Scene => sceneIn(folder, 'asked', { turns: [[pay]], isAsked: true })

/** Asks a person, and begins a call in which this process is killed. Returns what the application keeps. */
export async function begin(compared: Compared, folder: string, began: (kept: unknown) => void): Promise<void> {
  const kept = await compared.ask(asked(folder))
  const hold = async (): Promise<never> => {
    began(kept ?? null)
    setInterval(() => {}, 60_000) // a process with nothing to wait for would end by itself
    return new Promise<never>(() => {})
  }
  await compared.run(sceneIn(folder, 'killed', { turns: [[wait]] }, hold))
}

/** Goes on where the other process was killed. */
export async function find(compared: Compared, folder: string, kept: unknown): Promise<Found> {
  const question = asked(folder)
  const before = notesOf(question, 'pay')
  const first = await outcomeOf(question, compared.answer(question, kept))
  const second = await outcomeOf(question, compared.answer(question, kept))
  const killed = sceneIn(folder, 'killed', { turns: [[wait]] })
  const isStored = compared.noStorage === undefined ? isIn(killed.folder, wait.id) : undefined
  const after = await outcomeOf(killed, (compared.goOn ?? compared.run)(killed), 'wait')
  return { approval: { before, first, second }, ...(isStored !== undefined && { isStored }), killed: after }
}

function isIn(folder: string, id: string): boolean {
  const files = globSync('**', { cwd: folder }).map((file) => join(folder, file))
  return files.some((file) => existsSync(file) && statSync(file).isFile() && readFileSync(file).includes(id))
}
