import type { ContentBlock, ToolCallSnapshot, ToolEvent, ToolResult, WaitingCall } from '../../index.ts'
import { isOver, type CallView, type ErrorView, type ResultView, type Wait, type WireEvent } from '../protocol.ts'
import { plainJson } from './_reply.ts'

/** The most content of a view, and the most args of a call that is over, in characters of JSON. */
const [mostContent, mostArgs] = [16_384, 4_096]
const longestArgsPreview = 200

/** Returns an event as pages may see it. Its token stays here. */
export function wireEventOf(event: ToolEvent): WireEvent {
  switch (event.event) {
    case 'call:waiting': {
      const { token, meta, ...shownFields } = event
      return { ...shownFields, ...(meta && { meta: metaOf(meta) }), answerable: token !== undefined }
    }
    case 'call:settled': {
      const { error, ...shownFields } = event
      return error === undefined ? shownFields : { ...shownFields, error: { code: error.code, message: error.message } }
    }
    case 'tool:start':
      return { ...event, input: plainJson(event.input) }
    case 'tool:progress':
      return { ...event, data: plainJson(event.data) }
    default:
      return event
  }
}

function metaOf(meta: NonNullable<WaitingCall['meta']>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [name, plainJson(value)]))
}

/** Returns what a call waits for, as pages see it. */
export function waitView({ reason, prompt, expiresAt, why, meta, lease }: WaitingCall): Wait {
  return {
    reason,
    prompt,
    expiresAt,
    ...(why && { why }),
    ...(meta && { meta: metaOf(meta) }),
    ...(lease && { lease }),
  }
}

/** Makes the view of a call that waits, of which nothing else is known. */
export function viewOfWaiting(waiting: WaitingCall): CallView {
  const { invocationId, callId, toolName, session, createdAt, args, reason } = waiting
  const state = reason === 'approval' ? ('APPROVAL_REQUIRED' as const) : ('EXECUTING' as const)
  return { invocationId, callId, toolName, session, state, args, seq: 0, createdAt, waiting: waitView(waiting) }
}

/** Makes the view of a record. */
export function viewOfSnapshot(snapshot: ToolCallSnapshot, waiting: WaitingCall | undefined): CallView {
  const { id: invocationId, callId, name: toolName, toolCallId, session, state, status, effect, seq } = snapshot
  const { createdAt, startedAt, completedAt, durationMs, approval, result, artifact, handle, blocked } = snapshot
  const { decision, decidedBy, note, always } = approval
  const error = errorView(snapshot)
  return lightened({
    invocationId,
    callId,
    ...(toolCallId !== undefined && { id: toolCallId }),
    toolName,
    session,
    state,
    ...(status && { status }),
    effect,
    ...(waiting === undefined ? previewedArgs(snapshot) : { args: waiting.args }),
    seq,
    createdAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(waiting && { waiting: waitView(waiting) }),
    ...(blocked && { blocked }),
    ...(decision && {
      approval: {
        decision,
        ...(decidedBy !== undefined && { decidedBy }),
        ...(note !== undefined && { note }),
        ...(always !== undefined && { always }),
      },
    }),
    ...(error && { error }),
    ...(result && shownContent(result)),
    ...(artifact && { artifact: { ...artifact, ...(handle !== undefined && { handle }) } }),
  })
}

/** Returns the outcome of a call, as pages see it. Its token stays here. */
export function resultView(result: ToolResult): ResultView {
  const { invocationId, callId, toolName, status, effect, durationMs, error, artifact, handle, content } = result
  return {
    invocationId,
    callId,
    toolName,
    status,
    effect,
    durationMs,
    ...shownContent(content),
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(artifact && {
      artifact: {
        kind: artifact.kind,
        mediaType: artifact.mediaType,
        byteLength: artifact.byteLength(),
        ...(handle !== undefined && { handle }),
      },
    }),
  }
}

/** Returns the outcome in a view. */
export function resultOfView(view: CallView): ResultView {
  const { invocationId, callId, toolName, status, effect, content, truncated, error, artifact, durationMs } = view
  return {
    invocationId,
    callId,
    toolName,
    status,
    effect,
    content,
    truncated,
    error,
    artifact,
    durationMs,
  } as ResultView
}

/** Leaves long args of a call that is over out of its view. */
export function lightened(view: CallView): CallView {
  if (!isOver(view) || view.args === undefined) return view
  const text = JSON.stringify(view.args) ?? ''
  if (text.length <= mostArgs) return view
  const { args: _long, ...light } = view
  return { ...light, argsPreview: `${text.slice(0, longestArgsPreview)}…` }
}

/** Returns the newer of two views of one call, with the args and the progress that only the older one has. */
export function mergedView(former: CallView | undefined, current: CallView): CallView {
  if (former === undefined || former.seq > current.seq) return former ?? current
  const { progress } = former
  const isSame = current.args === undefined && former.args !== undefined && former.callId === current.callId
  if (!isSame) return progress === undefined ? current : { ...current, progress }
  const { argsPreview: _whole, ...rest } = current
  return lightened({ ...rest, args: former.args, ...(progress && { progress }) })
}

function previewedArgs({ inputPreview }: ToolCallSnapshot): Pick<CallView, 'args' | 'argsPreview'> {
  if (inputPreview === '') return {}
  try {
    return { args: JSON.parse(inputPreview) as unknown }
  } catch {
    return { argsPreview: inputPreview } // it is cut
  }
}

function errorView({ error, state, auditTrail }: ToolCallSnapshot): ErrorView | undefined {
  if (error === undefined) return undefined
  const [, name = '', message = ''] = /^([^:]*): ([^]*)$/.exec(error) ?? []
  const note = auditTrail.find((entry) => entry.state === state && entry.note?.startsWith('E_') === true)?.note
  return { code: note ?? name, message }
}

/** Cuts content to what a view may have. Images and sounds are named by their sizes. */
export function shownContent(content: readonly ContentBlock[]): Pick<CallView, 'content' | 'truncated'> {
  let left = mostContent
  let isCut = false
  const visibleBlocks: ContentBlock[] = []
  const addText = (text: string): void => {
    if (text.length > left) isCut = true
    if (left > 0 && text !== '') visibleBlocks.push({ type: 'text', text: text.slice(0, left) })
    left -= text.length
  }
  for (const block of content) {
    if (left <= 0) {
      isCut = true
      break
    }
    if (block.type === 'text') {
      addText(block.text)
      continue
    }
    if (block.type === 'image' || block.type === 'audio') {
      isCut = true
      addText(
        `[${block.type} ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4).toLocaleString('en')} bytes]`,
      )
      continue
    }
    const text = JSON.stringify(block.type === 'json' ? block.data : block) ?? ''
    if (text.length > left) addText(text)
    else {
      visibleBlocks.push(block.type === 'json' ? { type: 'json', data: block.data } : block)
      left -= text.length
    }
  }
  return { content: visibleBlocks, ...(isCut && { truncated: true as const }) }
}
