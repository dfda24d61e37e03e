import { createExecutor, type ToolResult } from 'toolwright'
import type { Middleware } from 'toolwright/extension'
import { retry, type RetryOptions } from 'toolwright/middleware/retry'
import { expect, test } from 'vitest'
import { deferred, never, outcome, sink, soon } from '../_calls.ts'
import { Bank } from './_bank.ts'

const passing = (): Promise<never> => Promise.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))

/** A call of a tool that pays, whose answer is lost a number of times. */
async function payment(
  bank: Bank,
  lost: number,
  options: RetryOptions = {},
  tool: object = { timeout: 0 },
): Promise<ToolResult> {
  let runs = 0
  bank.after = () => (runs++ < lost ? passing() : 'paid')
  const use = [retry({ delay: 0, report: () => {}, ...options })]
  const executor = createExecutor({ tools: [bank.pay(tool)], use })
  return soon(executor.execute({ name: 'pay', args: { amount: 5 } }))
}

test('retry gives the result of what was done although its answer was lost, and pays once', async () => {
  const bank = new Bank()
  const result = await payment(bank, 9)
  expect(outcome(result)).toBe('ok completed')
  expect(result.value).toEqual({ receipt: 'paid 5' })
  expect([...bank.paid.values()]).toEqual([5])
})

test('retry runs a tool again of which it was found out that it did nothing', async () => {
  const bank = new Bank()
  bank.pays = false
  const result = await payment(bank, 2)
  expect([outcome(result), result.value, bank.asked.length]).toEqual(['ok completed', 'paid', 2])
  const exhausted = await payment(new Bank(), 9, { attempts: 1 }) // the last failure is found out about too
  expect(outcome(exhausted)).toBe('ok completed')
  const nothing = new Bank()
  nothing.pays = false
  expect(outcome(await payment(nothing, 9))).toBe('error none E_TOOL_DOWNSTREAM_ERROR')
})

test('retry fails with the error of the handler if it cannot be found out, and reports why', async () => {
  const { reports, report } = sink()
  const bank = new Bank()
  bank.says = () => ({ effect: 'unknown' })
  expect(outcome(await payment(bank, 9, { report }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  bank.says = () => Promise.reject(new Error('the bank is down for card 4111'))
  expect(outcome(await payment(bank, 9, { report }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  expect(bank.asked).toHaveLength(2)
  expect(reports.map(String).join()).toContain('the bank is down')
  bank.says = () => never
  expect(outcome(await payment(bank, 9, { report }, { timeout: 30 }))).toBe('timed_out unknown E_TOOL_TIMEOUT')
  expect(reports).toHaveLength(1) // the call was over by then
})

test('retry asks about no error that is not worth another attempt, and none of a tool that may run twice', async () => {
  const bank = new Bank()
  expect(outcome(await payment(bank, 9, { when: () => false }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  expect(outcome(await payment(bank, 1, {}, { traits: { idempotent: true } }))).toBe('ok completed')
  expect(bank.asked).toEqual([])
})

test('retry does not believe that nothing happened while the handler still runs behind another middleware', async () => {
  const [bank, running] = [new Bank(), deferred()]
  bank.pays = false
  const impatient: Middleware = (_call, _context, next) => {
    void next()
    return passing()
  }
  let runs = 0
  bank.after = () => (runs++, running.promise)
  const executor = createExecutor({
    tools: [bank.pay({ timeout: 0 })],
    use: [retry({ delay: 0 }), { middleware: [impatient] }],
  })
  expect(outcome(await soon(executor.execute({ name: 'pay', args: { amount: 5 } })))).toBe(
    'error unknown E_TOOL_DOWNSTREAM_ERROR',
  )
  expect(runs).toBe(1)
  running.resolve()
})
