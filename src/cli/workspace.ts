import type { ParseArgsOptionsConfig } from 'node:util'
import { bubblewrap } from '../builtins/bubblewrap.ts'
import { localSandbox } from '../builtins/local.ts'
import type { Sandbox } from '../builtins/sandbox.ts'
import { shellTools, taskTool, todoTools, workspaceTools, type RunTask } from '../builtins/tools.ts'
import type { Extension } from '../index.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { note, type Host } from './host.ts'
import { loadFunction } from './module.ts'

/** The options that bring the built-in tools. */
export const workspaceOptions: ParseArgsOptionsConfig = {
  workspace: { type: 'string' },
  sandbox: { type: 'string' },
  user: { type: 'string' },
  task: { type: 'string' },
}

/** Returns the built-in tools for `--workspace` and `--task`, or `undefined` without both. */
export async function openWorkspace(options: CommandLine, host: Host): Promise<readonly Extension[] | undefined> {
  const root = options.text('workspace')
  const alone = ['sandbox', 'user'].find((name) => options.text(name) !== undefined)
  if (root === undefined && alone !== undefined) throw new UsageError(`--${alone} needs --workspace.`)
  const path = options.text('task')
  if (root === undefined && path === undefined) return undefined
  const tasks = path === undefined ? [] : [taskTool({ run: (await loadFunction(path)) as RunTask })]
  if (root === undefined) return tasks
  const sandbox = await sandboxOf(root, options, host)
  return [workspaceTools(sandbox), shellTools(sandbox), todoTools(), ...tasks, { close: () => sandbox.close() }]
}

function sandboxOf(root: string, options: CommandLine, host: Host): Promise<Sandbox> {
  const name = options.text('sandbox') ?? 'local'
  const user = userOf(options.text('user'))
  if (name === 'bubblewrap') return bubblewrap({ root, ...(user && { user }) })
  if (name !== 'local') throw new UsageError(`--sandbox takes local or bubblewrap, got "${name}".`)
  if (user !== undefined) throw new UsageError('--user needs --sandbox bubblewrap.')
  return localSandbox({ root, report: (message) => note(host, message) })
}

function userOf(text: string | undefined): { readonly uid: number; readonly gid: number } | undefined {
  if (text === undefined) return undefined
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(text) ?? []
  if (uid === undefined) throw new UsageError(`--user takes numbers as 1500:1500, got "${text}".`)
  return { uid: Number(uid), gid: Number(gid) }
}
