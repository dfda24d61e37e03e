// What an executor loads when a call is first evaluated, has to be approved, has to wait, comes to a gate, gets artifacts, has args that
// may be repaired, or has to be found out about.
// Most programs have no such call.
export { approve } from './approvals/approvals.ts'
export { repairArgs } from './kernel/call/repaired.ts'
export { evaluate } from './kernel/evaluate.ts'
export { findOut } from './kernel/find-out.ts'
export { leaveGates, passGates } from './kernel/run/gates.ts'
export { UnrecordedCalls } from './records/unrecorded.ts'
export { openArtifacts } from './spool/open-artifacts.ts'
