import type { ToolCallAuditEntry, ToolCallRecord, ToolCallState } from '../../extension.ts'

/** For each line its state, milliseconds since `createdAt`, and note. */
export type Trail = readonly (string | number | undefined)[]

export function packed(lines: readonly ToolCallAuditEntry[], since: number): Trail {
  // oxlint-disable-next-line unicorn/no-new-array -- allocated at its exact length, since it lives as long as its record
  const trail = new Array<string | number | undefined>(lines.length * 3)
  let index = 0
  for (const { state, timestamp, note } of lines) {
    trail[index++] = state
    trail[index++] = timestamp - since
    trail[index++] = note
  }
  return trail
}

export function unpacked(trail: Trail, since: number): ToolCallAuditEntry[] {
  const lines: ToolCallAuditEntry[] = []
  for (let index = 0; index < trail.length; index += 3) {
    const [state, passed, note] = trail.slice(index, index + 3) as [ToolCallState, number, string | undefined]
    const timestamp = since + passed
    lines.push(note === undefined ? { state, timestamp } : { state, timestamp, note })
  }
  return lines
}

/** Whether the call began, started and ended, and its audit trail says nothing else. */
export function hasUsualTrail({ auditTrail, createdAt, startedAt, completedAt, state }: ToolCallRecord): boolean {
  return (
    auditTrail.length === 3 &&
    isLine(auditTrail[0]!, 'PENDING', createdAt) &&
    isLine(auditTrail[1]!, 'EXECUTING', startedAt) &&
    isLine(auditTrail[2]!, state, completedAt)
  )
}

function isLine(line: ToolCallAuditEntry, state: ToolCallState, timestamp: number | undefined): boolean {
  return line.state === state && line.timestamp === timestamp && line.note === undefined
}

export function usualTrail(
  createdAt: number,
  startedAt: number,
  state: ToolCallState,
  completedAt: number,
): ToolCallAuditEntry[] {
  return [
    { state: 'PENDING', timestamp: createdAt },
    { state: 'EXECUTING', timestamp: startedAt },
    { state, timestamp: completedAt },
  ]
}
