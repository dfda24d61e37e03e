import { sandboxRuntime } from 'toolwright/builtins/sandbox-runtime'
import { expect, test } from 'vitest'
import { temporary } from './_workspace.ts'

test('sandboxRuntime is refused if this process is root, with what to do', async (context) => {
  context.skip(process.getuid?.() !== 0, 'left out: this process is not root')
  await expect(sandboxRuntime({ root: temporary() })).rejects.toMatchObject({
    code: 'E_INVALID_CONFIGURATION',
    message: expect.stringMatching(/does not run as root.*bubblewrap/),
  })
})
