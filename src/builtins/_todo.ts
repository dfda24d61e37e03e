import { tool, type Tool } from '../index.ts'
import type { ToolMaking } from './_naming.ts'
import type { Sessions } from './_sessions.ts'
import { refusal } from './_words.ts'

export interface Todo {
  readonly id: string
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export interface Todos {
  list: readonly Todo[]
}

const mostTodos = 200

/** Makes the tools that keep a list of what is to be done. */
export function todoListTools(sessions: Sessions<Todos>, making: ToolMaking): Tool[] {
  return [
    tool({
      ...making('todo_read'),
      description: 'Reads the list of what is to be done',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      traits: { readonly: true },
      handler: (_, { session }) => ({ todos: sessions.of(session).list }),
    }),
    tool({
      ...making('todo_write'),
      description: 'Replaces the list of what is to be done. At most one entry is in progress',
      inputSchema: {
        type: 'object',
        properties: {
          todos: {
            type: 'array',
            maxItems: mostTodos,
            description: 'The whole list, in its order',
            items: {
              type: 'object',
              properties: {
                content: { type: 'string', minLength: 1, maxLength: 1_000, description: 'What is to be done' },
                status: { enum: ['pending', 'in_progress', 'completed'], description: 'How far it is' },
                id: {
                  type: 'string',
                  minLength: 1,
                  maxLength: 100,
                  description: 'Its id. Default: its number in the list',
                },
              },
              required: ['content', 'status'],
              additionalProperties: false,
            },
          },
        },
        required: ['todos'],
        additionalProperties: false,
      },
      traits: { idempotent: true },
      handler: ({ todos }, { session }) => {
        const list = withIds(todos)
        sessions.of(session).list = list
        return { todos: list }
      },
    }),
  ]
}

/** Ids that are not given must not collide with those that are. */
function withIds(todos: readonly (Omit<Todo, 'id'> & { readonly id?: string })[]): Todo[] {
  const ids = new Set<string>()
  for (const { id } of todos) {
    if (id === undefined) continue
    if (ids.has(id)) throw refusal(`Two entries have the id ${JSON.stringify(id)}. The list is as it was.`)
    ids.add(id)
  }
  const inProgress = todos.filter(({ status }) => status === 'in_progress').length
  if (inProgress > 1)
    throw refusal(`${inProgress} entries are in progress, and at most one may be. The list is as it was.`)
  let number = 0
  const free = (): string => {
    do number++
    while (ids.has(String(number)))
    return String(number)
  }
  return todos.map(({ content, status, id = free() }) => ({ id, content, status }))
}
