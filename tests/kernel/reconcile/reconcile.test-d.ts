import { createExecutor, tool, type ToolResult } from 'toolwright'
import type { Reconciled, ReconcileContext } from 'toolwright/extension'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

test('`reconcile` of a tool gets the validated input, and what it needs to look a call up', () => {
  tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: z.object({ cents: z.string().transform(Number) }),
    handler: ({ cents }) => cents,
    reconcile: (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{ cents: number }>()
      expectTypeOf(context).toEqualTypeOf<ReconcileContext>()
      return { effect: 'none' }
    },
  })
})

test('`reconcile` returns what the handler could have returned, if there is an outputSchema', () => {
  const common = {
    name: 'pay',
    description: 'Pays',
    outputSchema: z.object({ receipt: z.string() }),
    handler: () => ({ receipt: 'r' }),
  } as const
  tool({ ...common, reconcile: async () => ({ effect: 'completed', result: { receipt: 'r' } }) })
  // @ts-expect-error the receipt is text
  tool({ ...common, reconcile: async () => ({ effect: 'completed', result: { receipt: 1 } }) })
  // @ts-expect-error `completed` has a result
  tool({ ...common, reconcile: () => ({ effect: 'completed' }) })
  // @ts-expect-error there is no such effect
  tool({ ...common, reconcile: () => ({ effect: 'perhaps' }) })
})

test('an executor finds out what became of a call', () => {
  expectTypeOf(createExecutor().calls.reconcile('order-17')).toEqualTypeOf<Promise<ToolResult>>()
  expectTypeOf<Reconciled<string>>().toEqualTypeOf<
    | { readonly effect: 'completed'; readonly result: string }
    | { readonly effect: 'none' }
    | { readonly effect: 'unknown'; readonly note?: string }
  >()
})
