import { tool, type Tool, type ToolContext } from '../index.ts'
import { fileConflicts } from './_file-conflicts.ts'
import type { ToolMaking } from './_naming.ts'
import type { Sessions } from './_sessions.ts'
import { OutputSpooling } from './_spooling.ts'
import { refusal } from './_words.ts'
import type { Job, Output, Sandbox } from './sandbox.ts'

/** The commands of a session that run in the background, and those that ran. */
export interface Jobs {
  readonly jobs: Map<string, { readonly job: Job; isEnded: boolean; isKilled: boolean }>
}

/** How commands are run. */
export interface ShellWork {
  readonly sandbox: Sandbox
  readonly sessions: Sessions<Jobs>
  readonly jobLifetime: number
  readonly requiresConfirmation:
    boolean | ((input: { readonly command: string }, context: ToolContext) => boolean | Promise<boolean>)
}

const mostJobs = 16
/** Ended jobs whose output can still be read. */
const mostEnded = 32
const longestTimeout = 600_000
const ownTimeout = longestTimeout + 20_000

/** Makes the tools that run commands. */
export function commandTools(work: ShellWork, making: ToolMaking): Tool[] {
  const pid = { type: 'string', description: 'The pid that bash_run gave' } as const
  return [
    tool({
      ...making('bash_run'),
      description:
        'Runs a command in bash. Without `background` it ends with everything that it started; an exit code other than 0 is no error of the tool',
      inputSchema: {
        type: 'object',
        properties: {
          command: {
            type: 'string',
            minLength: 1,
            maxLength: 102_400,
            description: 'The command; it has no standard input',
          },
          background: { type: 'boolean', description: 'Whether to let it run on. Default: false' },
          timeout: {
            type: 'integer',
            minimum: 1,
            maximum: longestTimeout,
            description: 'Milliseconds until it is ended. Default: 120,000; in the background none',
          },
          cwd: { type: 'string', description: 'The directory to run in, within the workspace. Default: the workspace' },
        },
        required: ['command'],
        additionalProperties: false,
      },
      traits: { openWorld: true, destructive: true },
      timeout: ownTimeout,
      requiresConfirmation: work.requiresConfirmation,
      // A command may touch any file. One in the background goes on after its call.
      conflicts: ({ background }) => (background === true ? [] : fileConflicts(work.sandbox, ['.'], 'write')),
      handler: (input, context) =>
        input.background === true ? launch(work, input, context) : runShell(work, input, context),
    }),
    tool({
      ...making('bash_logs'),
      description: 'Reads the output of a command in the background',
      inputSchema: {
        type: 'object',
        properties: {
          pid,
          since: {
            type: 'integer',
            minimum: 0,
            description: 'The `next` of the last answer. Default: 0, the beginning',
          },
        },
        required: ['pid'],
        additionalProperties: false,
      },
      traits: { readonly: true },
      handler: ({ pid: id, since = 0 }, { session }) => {
        const { text, next, state, exitCode } = shellJob(work, id, session).job.logs(since)
        return { output: text, next, status: state, exitCode }
      },
    }),
    tool({
      ...making('bash_kill'),
      description: 'Ends a command in the background, with everything that it started',
      inputSchema: { type: 'object', properties: { pid }, required: ['pid'], additionalProperties: false },
      traits: { destructive: true, idempotent: true },
      handler: async ({ pid: id }, { session }) => {
        const jobState = shellJob(work, id, session)
        jobState.isKilled ||= !jobState.isEnded
        await jobState.job.kill()
        return { status: jobState.isKilled ? 'killed' : 'exited', exitCode: jobState.job.logs().exitCode }
      },
    }),
  ]
}

interface RunInput {
  readonly command: string
  readonly timeout?: number
  readonly cwd?: string
}

type ShownCommand = Readonly<Record<string, unknown>>

async function runShell(
  { sandbox }: ShellWork,
  { command, timeout, cwd }: RunInput,
  context: ToolContext,
): Promise<ShownCommand> {
  const streams = { stdout: new OutputSpooling(context.keep), stderr: new OutputSpooling(context.keep) }
  const { signal } = context
  const result = await sandbox.exec(command, {
    timeout: timeout ?? 120_000,
    cwd,
    signal,
    onOutput: (stream, bytes) => streams[stream].push(bytes),
  })
  const [stdout, stderr] = await Promise.all([streams.stdout.end(result.stdout), streams.stderr.end(result.stderr)])
  return {
    ...shownCommand('stdout', stdout),
    ...shownCommand('stderr', stderr),
    exitCode: result.exitCode,
    ...(result.signal !== null && { signal: result.signal }),
    ...(result.timedOut && { timedOut: true }),
  }
}

function shownCommand(
  name: string,
  output: Output & { readonly handle?: string; readonly notKept?: string },
): ShownCommand {
  const { text, totalBytes, omittedBytes, handle, notKept } = output
  return {
    [name]: text,
    ...(omittedBytes > 0 && { [`${name}Bytes`]: totalBytes, [`${name}OmittedBytes`]: omittedBytes }),
    ...(omittedBytes > 0 && handle !== undefined && { [`${name}Artifact`]: handle }),
    ...(omittedBytes > 0 && notKept !== undefined && { [`${name}NotKept`]: notKept }),
  }
}

async function launch(
  work: ShellWork,
  { command, timeout, cwd }: RunInput,
  { session, signal }: ToolContext,
): Promise<ShownCommand> {
  const { jobs } = work.sessions.of(session)
  const running = [...jobs.values()].filter(({ isEnded }) => !isEnded)
  if (running.length >= mostJobs) {
    throw refusal(`${mostJobs} commands run in the background already.`, 'End one with bash_kill.')
  }
  signal.throwIfAborted()
  const job = await work.sandbox.execBackground(command, {
    timeout: Math.min(timeout ?? Infinity, work.jobLifetime),
    cwd,
  })
  const jobState = { job, isEnded: false, isKilled: false }
  jobs.set(job.id, jobState)
  const end = (): void => {
    jobState.isEnded = true
    const ended = [...jobs].filter(([, each]) => each.isEnded)
    for (const [id] of ended.slice(0, -mostEnded)) jobs.delete(id)
  }
  job.done.then(end, end)
  return { pid: job.id, status: 'running' }
}

/** Another session's job, and a number of a process, are no job. */
function shellJob(
  { sessions }: ShellWork,
  id: string,
  session: string,
): { job: Job; isEnded: boolean; isKilled: boolean } {
  const { jobs } = sessions.of(session)
  const job = jobs.get(id)
  if (job !== undefined) return job
  const running = [...jobs.keys()]
  throw refusal(
    `There is no such job: ${JSON.stringify(id.slice(0, 80))}.`,
    running.length === 0
      ? 'Start one with bash_run and `background`.'
      : `The jobs of this session are ${running.join(', ')}.`,
  )
}
