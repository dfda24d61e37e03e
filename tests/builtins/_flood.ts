// Run by flood.test.ts in a process of its own: how much memory a command takes that writes many bytes.
import { createExecutor } from 'toolwright'
import { localSandbox } from 'toolwright/builtins/local'
import { shellTools } from 'toolwright/builtins/tools'
import { fileStore } from 'toolwright/stores/file'

const [root = '', store = '', length = '0'] = process.argv.slice(2)
const sandbox = await localSandbox({ root, report: () => {} })
const executor = createExecutor({ use: [shellTools(sandbox, { requiresConfirmation: false }), fileStore(store)] })

async function flood(bytes: number): Promise<Record<string, unknown>> {
  const command = `head -c ${bytes} /dev/zero | tr '\\0' x`
  const { content } = await executor.execute(
    { name: 'bash_run', args: { command, timeout: 600_000 } },
    { session: 's' },
  )
  const [block] = content
  return (block?.type === 'json' ? block.data : {}) as Record<string, unknown>
}

let highest = 0
const beat = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss())
}, 20)
await flood(200_000_000)
globalThis.gc?.()
const before = highest
highest = 0
const { exitCode, stdoutBytes, stdoutArtifact, stdoutNotKept } = await flood(Number(length))
clearInterval(beat)
const artifact = await executor.artifacts.open(String(stdoutArtifact), 's')
console.log(
  JSON.stringify({
    exitCode,
    stdoutBytes,
    stdoutNotKept,
    kept: artifact.byteLength(),
    before,
    growth: highest - before,
  }),
)
await executor.close()
await sandbox.close()
