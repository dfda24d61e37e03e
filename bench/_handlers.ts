/** What the tool of a bench does, by what its rows are called. */
export const handlers: Readonly<Record<string, () => unknown>> = {
  'a handler that returns at once': () => 'done',
  'an async handler': async () => 'done',
  'a handler that returns an object': () => ({ rows: 3, cursor: null, took: 12.5 }),
}
