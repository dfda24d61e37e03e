// Run by killed-host.test.ts in a process of its own, which is killed: a host that starts commands, and says when it begins.
import { writeSync } from 'node:fs'
import { bubblewrap } from 'toolwright/builtins/bubblewrap'
import { localSandbox } from 'toolwright/builtins/local'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { sandboxRuntime } from 'toolwright/builtins/sandbox-runtime'
import { user } from '../servers/bubblewrap.ts'

const [kind = '', root = '', mark = '', starts = '0', program] = process.argv.slice(2)
const sandbox = await open()
// What leaves its session is held by a namespace alone.
const alone = kind === 'local' ? '' : 'setsid '
const sleeping = `bash -c 'sleep 300; : ${mark}'`
const command = `${alone}${sleeping} & (sleep 300 &); set -m; sleep 300 & ${sleeping}`

async function open(): Promise<Sandbox> {
  if (kind === 'local') return localSandbox({ root, report: () => {} })
  if (kind === 'sandbox-runtime') return sandboxRuntime({ root })
  return bubblewrap({ root, ...(user && { user }), ...(program !== undefined && { program }) })
}

writeSync(1, 'ready\n')
process.stdin.on('data', () => void sandbox.exec('true').then(() => writeSync(1, 'again\n')))
for (let index = 0; index < Number(starts); index++) {
  const options = { env: { MARK: mark } }
  if (index % 2 === 0) void sandbox.exec(command, options)
  else void sandbox.execBackground(command, options)
  await new Promise((resolve) => setTimeout(resolve, index % 3))
}
