/**
 * The twelve built-in tools: files, commands, a list of what is to be done, and tasks for other agents. They touch files and
 * run commands only through a sandbox; what they remember belongs to a session.
 *
 * @module
 */
import type { Extension, Tool, ToolContext } from '../index.ts'
import { functionOption, numberFrom, oneOf, optionsError, required } from '../extension.ts'
import { Freshness } from './_freshness.ts'
import { fileTools } from './_files-tools.ts'
import { requireNaming, making, type NamedTools } from './_naming.ts'
import { Outside } from './_outside.ts'
import { searchTools } from './_search-tools.ts'
import { Sessions } from './_sessions.ts'
import { commandTools, type Jobs } from './_shell-tools.ts'
import { taskTools, type RunTask } from './_task.ts'
import { todoListTools, type Todos } from './_todo.ts'
import type { Sandbox } from './sandbox.ts'

export type { RunTask, Task } from './_task.ts'
export type { NamedTools } from './_naming.ts'

const ofFiles = ['fs_read', 'fs_write', 'fs_edit', 'fs_multi_edit', 'fs_glob', 'fs_grep'] as const
const ofCommands = ['bash_run', 'bash_logs', 'bash_kill'] as const
const ofLists = ['todo_read', 'todo_write'] as const
const ofTasks = ['task_run'] as const

/** An extension that brings tools, and ends what they started when the executor closes. */
export type BuiltinTools = Extension & Required<Pick<Extension, 'tools' | 'close'>>

/** The options of `workspaceTools`. */
export interface WorkspaceToolsOptions extends NamedTools<(typeof ofFiles)[number]> {
  /** Whether `fs_write` replaces only files that the session read, or any. Default: `'read'`. */
  readonly overwrite?: 'read' | 'any'
  /** Whether a path outside the workspace is refused, or a person is asked. Default: `'refuse'`. */
  readonly outside?: 'refuse' | 'ask'
}

/** The options of `shellTools`. */
export interface ShellToolsOptions extends NamedTools<(typeof ofCommands)[number]> {
  /** Whether a person approves a command. Default: yes if the sandbox isolates nothing, else no. */
  readonly requiresConfirmation?:
    boolean | ((input: { readonly command: string }, context: ToolContext) => boolean | Promise<boolean>)
  /** How long a command in the background may run, in milliseconds. Default: 3,600,000 (1 h). */
  readonly jobLifetime?: number
}

/**
 * Makes the tools for files: `fs_read`, `fs_write`, `fs_edit`, `fs_multi_edit`, `fs_glob` and `fs_grep`.
 *
 * A session remembers which version of a file it read: a file that changed since is not overwritten. `fs_glob` and `fs_grep`
 * need the package `re2js`.
 *
 * @param sandbox Keeps the tools within its root.
 * @param options Which tools, under which names, and whether a person is asked about a path outside the root.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { localSandbox } from 'toolwright/builtins/local'
 * import { workspaceTools } from 'toolwright/builtins/tools'
 *
 * const sandbox = await localSandbox({ root: '.', report: () => {} })
 * const executor = createExecutor({ use: [workspaceTools(sandbox, { tools: ['fs_read', 'fs_glob'] })] })
 * ```
 * @experimental
 */
export function workspaceTools(sandbox: Sandbox, options: WorkspaceToolsOptions = {}): BuiltinTools {
  const { prefix, isWanted } = requireNaming('workspaceTools', options, ofFiles, {
    overwrite: oneOf('read', 'any'),
    outside: oneOf('refuse', 'ask'),
  })
  const { overwrite = 'read', outside = 'refuse' } = options
  if (outside === 'ask' && (sandbox.grant === undefined || sandbox.outside === undefined)) {
    throw optionsError('workspaceTools', `cannot ask for paths outside: the sandbox ${sandbox.name} grants none`)
  }
  const asking = outside === 'ask' ? new Outside(sandbox) : undefined
  const marks = new Sessions(() => new Freshness())
  const work = {
    overwrite,
    filesFor: (path: string, context: ToolContext) => asking?.filesFor(path, context) ?? sandbox,
    freshness: ({ session }: ToolContext) => marks.of(session),
  }
  const make = making(prefix, sandbox, asking)
  const all = [...fileTools(work, make), ...searchTools(sandbox, work.filesFor, make)]
  return extension(
    all.filter(({ name }) => isWanted(name)),
    () => {
      asking?.close()
      marks.clear()
    },
  )
}

/**
 * Makes the tools for commands: `bash_run`, `bash_logs` and `bash_kill`.
 *
 * Output that is too large for a result is kept as an artifact while the command runs. A session has at most 16 commands in the
 * background; no other session can see them. They end with the executor.
 *
 * @param sandbox Runs the commands.
 * @param options Which tools, under which names, whether a person is asked first, and how long a command in the background may run.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { bubblewrap } from 'toolwright/builtins/bubblewrap'
 * import { shellTools } from 'toolwright/builtins/tools'
 *
 * const executor = createExecutor({ use: [shellTools(await bubblewrap({ root: '/srv/workspaces/42' }))] })
 * ```
 * @experimental
 */
export function shellTools(sandbox: Sandbox, options: ShellToolsOptions = {}): BuiltinTools {
  const { prefix, isWanted } = requireNaming('shellTools', options, ofCommands, {
    requiresConfirmation: {
      expected: 'true, false or a function',
      accepts: (value) => ['boolean', 'function'].includes(typeof value),
    },
    jobLifetime: numberFrom(1),
  })
  const { requiresConfirmation = sandbox.isolation === 'none', jobLifetime = 3_600_000 } = options
  const end = ({ jobs }: Jobs): Promise<unknown> => Promise.allSettled([...jobs.values()].map(({ job }) => job.kill()))
  const all = new Set<Jobs>()
  const sessions = new Sessions<Jobs>(
    () => {
      const jobs: Jobs = { jobs: new Map() }
      all.add(jobs)
      return jobs
    },
    (jobs) => {
      all.delete(jobs)
      void end(jobs)
    },
  )
  const work = { sandbox, sessions, jobLifetime, requiresConfirmation }
  const tools = commandTools(work, making(prefix)).filter(({ name }) => isWanted(name))
  return extension(tools, async () => {
    await Promise.all([...all].map(end))
    sessions.clear()
  })
}

/**
 * Makes the tools for a list of what is to be done: `todo_read` and `todo_write`. Each session has its own.
 *
 * @param options Which of the two, and under which names.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { todoTools } from 'toolwright/builtins/tools'
 *
 * const executor = createExecutor({ use: [todoTools()] })
 * ```
 * @experimental
 */
export function todoTools(options: NamedTools<(typeof ofLists)[number]> = {}): BuiltinTools {
  const { prefix, isWanted } = requireNaming('todoTools', options, ofLists)
  const sessions = new Sessions<Todos>(() => ({ list: [] }))
  return extension(
    todoListTools(sessions, making(prefix)).filter(({ name }) => isWanted(name)),
    () => sessions.clear(),
  )
}

/**
 * Makes `task_run`, which hands a task to another agent. At most three tasks may be in one another.
 *
 * @param options `run` does the task; what it returns is the result.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { taskTool } from 'toolwright/builtins/tools'
 *
 * const executor = createExecutor({ use: [taskTool({ run: ({ task }) => `I would do: ${task}` })] })
 * ```
 * @experimental
 */
export function taskTool(options: NamedTools<(typeof ofTasks)[number]> & { readonly run: RunTask }): BuiltinTools {
  const { prefix, isWanted } = requireNaming('taskTool', options, ofTasks, { run: required(functionOption) })
  return extension(taskTools(options.run, making(prefix)).filter(({ name }) => isWanted(name)))
}

function extension(tools: readonly Tool[], close: () => void | Promise<void> = () => {}): BuiltinTools {
  return { tools: () => tools, close }
}
