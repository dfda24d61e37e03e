import { tool, type ToolLike } from 'toolwright'

export const tools: readonly ToolLike[] = [
  tool({ name: 'same', description: 'Is the same each time', traits: { readonly: true }, handler: () => 'same' }),
  tool({
    name: 'clock',
    description: 'Tells the time',
    traits: { readonly: true },
    handler: () => `${process.hrtime.bigint()}`,
  }),
  tool({ name: 'pays', description: 'Pays', handler: () => `paid at ${process.hrtime.bigint()}` }),
]
