// What tests of the kernel's own parts reach inside for: the one place that knows the paths.
export { Deadline } from '../../src/kernel/call/deadline.ts'
export { InFlight } from '../../src/kernel/call/in-flight.ts'
export { lockKeysOf, type LockKey } from '../../src/kernel/call/lock-keys.ts'
export { LockTable } from '../../src/kernel/call/lock-table.ts'
export { Locks } from '../../src/kernel/call/locks.ts'
export { Slots } from '../../src/kernel/call/slots.ts'
export { callIdOf } from '../../src/kernel/json/canonical.ts'
export { bounded, jsonText, readResult, readText } from '../../src/kernel/json/json-text.ts'
export { parseArgs, readJson } from '../../src/kernel/json/parse.ts'
export {
  categoryOf,
  downstream,
  modelText,
  oneLine,
  returnedFailure,
  errorWords,
} from '../../src/kernel/outcome/failure.ts'
export { MemoryReader } from '../../src/kernel/result/artifact.ts'
export { isArtifact } from '../../src/kernel/result/brand.ts'
export { isMarkedJson, looksLikeBlocks, markedBlocks } from '../../src/kernel/result/content.ts'
export { chosenClass } from '../../src/kernel/result/kinds.ts'
export { LineIndex, stretch } from '../../src/spool/lines.ts'
export { openStream } from '../../src/spool/stream.ts'
export { isGenerator, isStream, type Stream } from '../../src/kernel/run/stream.ts'
export { issuesText, loadEngine, validatorOf } from '../../src/kernel/schema/validator.ts'
export { isVisible } from '../../src/kernel/tool/registry.ts'
export { advance } from '../../src/records/fold.ts'
export { fingerprint } from '../../src/records/fingerprint.ts'
export { definitionOf } from '../../src/kernel/tool/definition.ts'
export { snapshotOf } from '../../src/records/record.ts'
export { redactIssues } from '../../src/redaction/issues.ts'
export { mask } from '../../src/redaction/masked.ts'
export { previewOf } from '../../src/spool/preview.ts'
export { ArtifactShelf } from '../../src/spool/shelf.ts'
