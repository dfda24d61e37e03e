import { createExecutor } from 'toolwright'
import { localSandbox } from 'toolwright/builtins/local'
import { workspaceTools } from 'toolwright/builtins/tools'

// A process of its own, which may run out of memory: edits all places of large files, and says what the model reads.
const sandbox = await localSandbox({ root: process.argv[2] ?? '', report: () => {} })
const executor = createExecutor({ use: [workspaceTools(sandbox)] })
const edits: readonly (readonly [path: string, edit: object])[] = [
  ['many', { old: '(1)', new: '(2)', all: true }],
  ['more', { old: ';', new: ',', all: true }],
  ['many', { old: '(2)', new: 'x'.repeat(100_000), all: true }],
]
for (const [path, edit] of edits) {
  const { content, error } = await executor.execute({ name: 'fs_edit', args: { path, edits: [edit] } })
  const [block] = content
  const { replaced, diff } = (block?.type === 'json' ? block.data : {}) as { replaced?: number; diff?: string }
  console.log(JSON.stringify(error?.message ?? { replaced, diff }))
}
await sandbox.close()
