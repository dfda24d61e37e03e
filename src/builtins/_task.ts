import { AsyncLocalStorage } from 'node:async_hooks'
import { tool, type CallOptions, type Tool, type ToolContext, type ToolValues } from '../index.ts'
import type { ToolMaking } from './_naming.ts'
import { refusal } from './_words.ts'

/** What a model hands to another agent. */
export interface Task {
  /** What is to be done, and what the answer has to contain. */
  readonly task: string
  /** What the agent has to know for it. Default: nothing. */
  readonly context?: string
}

/**
 * Does a task, usually with an agent of its own.
 *
 * @param options For the calls of that agent: they carry the depth of tasks, and the signal that cancels them.
 */
export type RunTask = (
  task: Task,
  context: ToolContext,
  options: Pick<CallOptions, 'values' | 'signal' | 'principal'>,
) => unknown

/** How many tasks may be in one another. */
const deepestTask = 3
const depthKey = 'toolwright.taskDepth'
const depths = new AsyncLocalStorage<number>()

/** Makes the tool that hands a task on. */
export function taskTools(run: RunTask, making: ToolMaking): Tool[] {
  return [
    tool({
      ...making('task_run'),
      description: 'Hands a task to another agent, and gives its answer. The agent knows only what it is told here',
      inputSchema: {
        type: 'object',
        properties: {
          task: { type: 'string', minLength: 1, description: 'What is to be done, and what the answer has to contain' },
          context: { type: 'string', description: 'What the agent has to know for it' },
        },
        required: ['task'],
        additionalProperties: false,
      },
      traits: { openWorld: true },
      timeout: 0,
      handler: (input, context) => {
        const { signal, principal } = context
        const values: Readonly<Record<string, unknown>> = { ...context.values }
        // Calls in other processes bring the depth along in `values`.
        const depth = 1 + Math.max(depths.getStore() ?? 0, Number(values[depthKey] ?? 0))
        if (!(depth <= deepestTask))
          throw refusal(`At most ${deepestTask} tasks may be in one another.`, 'Do this one yourself.')
        const below = { ...values, [depthKey]: depth } as ToolValues
        return depths.run(depth, () => run(input, context, { values: below, signal, principal }))
      },
    }),
  ]
}
