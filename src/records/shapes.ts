import type { ToolEvent } from '../kernel/call/events.ts'
import type { ToolResult } from '../kernel/call/call.ts'
import { begun, fold, foldEvent } from './fold.ts'
import { LiveRecording } from './live-recording.ts'
import type { OpenJournaled, RecordFormat } from './settlement.ts'

/** An object of each kind that the record of a call is made with, for the reason that `kernel/shapes.ts` gives. */
const recordShapes = new Map<RecordFormat, unknown[]>()

/** Keeps an object of each hidden class that the records of a format have, once in a process. */
export function keepRecordShapes(format: RecordFormat): void {
  if (recordShapes.has(format)) return
  recordShapes.set(
    format,
    [undefined, ''].flatMap((id) => shapesOf(format, id)),
  )
}

function shapesOf(format: RecordFormat, id: string | undefined): unknown[] {
  const timestamp = Date.now()
  const envelope = {
    callId: '',
    invocationId: '',
    toolName: '',
    session: '',
    timestamp,
    ...(id === undefined ? {} : { id }),
  }
  const [first, start, end]: readonly [ToolEvent, ToolEvent, ToolEvent] = [
    { ...envelope, event: 'call:received', args: {}, seq: 0 },
    { ...envelope, event: 'tool:start', input: {}, seq: 1 },
    { ...envelope, event: 'call:settled', status: 'ok', effect: 'none', durationMs: 0.5, seq: 2 },
  ]
  const recording = new LiveRecording(begun(first), { owner: '', number: 0 })
  const { record } = recording
  fold(record, first)
  record.input = format.args({}, '{}')
  const running: OpenJournaled = { caller: 'model', owner: '', fence: 0 }
  const settled: OpenJournaled = { ...running }
  running.hasStarted = true
  const started = format.complete(foldEvent(record, start), running)
  fold(record, start)
  fold(record, end)
  const result = { content: [] } as Partial<ToolResult> as ToolResult
  return [recording, started, format.complete(record, settled, { result, artifact: undefined })]
}
