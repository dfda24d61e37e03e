// What an executor loads when a call is first evaluated, has to be approved, has to wait, or gets artifacts.
// Most programs have no such call.
export { approve } from './approvals/approvals.ts'
export { evaluate } from './kernel/evaluate.ts'
export { UnrecordedCalls } from './records/unrecorded.ts'
export { openArtifacts } from './spool/open-artifacts.ts'
