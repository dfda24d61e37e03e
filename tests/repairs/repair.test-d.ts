import { createExecutor, type Extension, type ToolDefinition } from 'toolwright'
import type { RefusedArgs, Repair, RepairStep } from 'toolwright/extension'
import { argsRepair } from 'toolwright/repairs/args'
import { expectTypeOf, test } from 'vitest'

test('a repair gets what was refused, and returns other args or nothing', () => {
  const repair: Repair = ({ tool, args, issues, check }) => {
    expectTypeOf(tool).toEqualTypeOf<ToolDefinition>()
    expectTypeOf(args).toEqualTypeOf<unknown>()
    expectTypeOf(check(args)).toEqualTypeOf<Promise<typeof issues>>()
  }
  expectTypeOf(repair).parameter(0).toEqualTypeOf<RefusedArgs>()
  expectTypeOf({ repair }).toExtend<Extension>()
  // @ts-expect-error the steps are told
  const silent: Repair = () => ({ args: {} })
  expectTypeOf(silent).toEqualTypeOf<Repair>()
})

test('the steps of `argsRepair` are those that it has', () => {
  argsRepair({ steps: ['fence'], tools: ({ name }) => name === 'a' })
  // @ts-expect-error there is no such step
  argsRepair({ steps: ['guess'] })
})

test('an event tells the steps', () => {
  createExecutor().on('call:repaired', ({ steps, from }) => {
    expectTypeOf(steps).toEqualTypeOf<readonly RepairStep[]>()
    expectTypeOf(from).toEqualTypeOf<string>()
  })
})
