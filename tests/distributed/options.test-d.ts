import { createExecutor, type Extension, type ToolExecutor } from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { createWorker, type Worker } from 'toolwright/distributed/worker'
import { expectTypeOf, test } from 'vitest'

declare const executor: ToolExecutor

test('a fleet is an extension, with or without a dispatcher', () => {
  expectTypeOf(fleet()).toExtend<Extension>()
  expectTypeOf(memoryDispatcher()).toExtend<Dispatcher>()
  fleet({ dispatcher: undefined, maximumWaiting: 10, carry: (values) => ({ ...values }) })
  createExecutor({ use: [fleet({ queueOf: ({ metadata }) => (metadata.tags?.includes('gpu') ? 'gpu' : undefined) })] })
  // @ts-expect-error -- a queue has a name
  fleet({ queueOf: () => 1 })
  // @ts-expect-error -- it is a number of milliseconds
  fleet({ expiry: '1h' })
})

test('a worker takes queues by name, each with how many calls run at a time', () => {
  const worker = createWorker({
    executor,
    queues: { default: 16, gpu: { concurrency: 1, limit: { calls: 1, interval: 1 } } },
  })
  expectTypeOf(worker).toEqualTypeOf<Worker>()
  expectTypeOf(worker.depth()).toEqualTypeOf<Promise<Readonly<Record<string, number>>>>()
  worker.on('error', (error) => expectTypeOf(error).toBeUnknown())
  // @ts-expect-error -- there is no such event
  worker.on('drained', () => {})
  // @ts-expect-error -- a worker has queues
  createWorker({ executor })
  // @ts-expect-error -- a list says nothing of concurrency
  createWorker({ executor, queues: ['default'] })
})

test('bullmq takes the address of a server, or options of its client', () => {
  expectTypeOf(bullmq).returns.toEqualTypeOf<Dispatcher>()
  bullmq({ connection: { host: 'localhost', port: 6_379 }, prefix: 'shop' })
  // @ts-expect-error -- a port is no address
  bullmq({ connection: 6_379 })
})
