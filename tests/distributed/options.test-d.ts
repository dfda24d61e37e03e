import { createExecutor, type Extension, type ToolExecutor } from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher, type QueuedCall } from 'toolwright/distributed/fleet'
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

test('a dispatcher carries ids of calls, each to a queue', () => {
  const dispatcher = memoryDispatcher()
  expectTypeOf<Parameters<Dispatcher['send']>>().toEqualTypeOf<[calls: readonly QueuedCall[]]>()
  void dispatcher.send([{ invocationId: 'a', queue: 'gpu', priority: 1, attempts: 2, place: 'b' }])
  // @ts-expect-error -- it has no options
  memoryDispatcher({ concurrency: 1 })
  // @ts-expect-error -- a call is in a queue
  void dispatcher.send([{ invocationId: 'a' }])
})

test('a worker makes the values of what the caller carried, which it cannot know the type of', () => {
  createWorker({
    executor,
    dispatcher: memoryDispatcher(),
    queues: { default: 1 },
    receive: (carried, { session }) => {
      expectTypeOf(carried).toBeUnknown()
      expectTypeOf(session).toBeString()
      return { tenant: 'acme' }
    },
  })
  // @ts-expect-error -- it is a number of milliseconds
  createWorker({ executor, queues: { default: 1 }, staleAfter: '30s' })
  // @ts-expect-error -- a worker takes from a dispatcher, or from the journal, not from an address
  createWorker({ executor, queues: { default: 1 }, dispatcher: 'redis://localhost' })
})
