import { tool, type Tool } from 'toolwright'

console.log('a module that talks while it loads')

export const talk: Tool = tool('talk', () => {
  console.log('a tool that talks while it runs')
  process.stdout.write('and writes\n')
  return 'said'
})

export const wait: Tool = tool('wait', (_, { signal }) => {
  signal.addEventListener('abort', () => console.error('the call was given up'))
  return new Promise(() => {})
})
