import { expect, onTestFinished, test, vi } from 'vitest'
import { InternalError, JournalError, ToolTimeoutError } from 'toolwright/errors'
import { reporterOf } from 'toolwright/extension'

function printedBy(fault: unknown): unknown[][] {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => print.mockRestore())
  reporterOf()(fault)
  return print.mock.calls
}

test('the reporter of an application gets each fault as it is', () => {
  const faults: unknown[] = []
  const report = reporterOf((fault) => faults.push(fault))
  const error = new Error('no')
  report(error)
  report(undefined)
  expect(faults).toEqual([error, undefined])
})

test('a reporter that throws or rejects is heard no further', async () => {
  const failing = reporterOf(() => {
    throw new Error('no')
  })
  failing('a fault')
  const late: (fault: unknown) => unknown = async () => Promise.reject(new Error('no'))
  reporterOf(late)('a fault')
  await new Promise(setImmediate) // a rejection that is not handled would end the test
})

test('without a reporter, an error of the package takes one line that no terminal obeys', () => {
  expect(printedBy(new ToolTimeoutError('It is\nlate\u001b[2J\u202e\u{e0041}.'))).toEqual([
    ['E_TOOL_TIMEOUT: It is\\nlate\\u001b[2J\\u202e\\udb40\\udc41.'],
  ])
})

test.each([
  ['an internal error, whose stack is needed', new InternalError('no')],
  ['a failure of the journal, whose cause is needed', new JournalError('no', { cause: new Error('disk') })],
  ['what is no error of the package', new Error('no')],
  ['what is no error', 'no'],
])('without a reporter, %s is printed whole', (_, fault) => {
  expect(printedBy(fault)).toEqual([[fault]])
})
