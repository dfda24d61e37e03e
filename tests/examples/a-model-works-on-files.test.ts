// A model finds a fault, reads it, mends it, runs the tests, and looks at a server that it started.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, type ToolResult } from 'toolwright'
import { shellTools, todoTools, workspaceTools } from 'toolwright/builtins/tools'
import { anthropic } from 'toolwright/formats/anthropic'
import { artifactTools } from 'toolwright/artifacts/tools'
import { describe, expect, test } from 'vitest'
import { withMark } from '../builtins/_marks.ts'
import { local, walled, workspace } from '../builtins/_workspace.ts'
import { missing } from '../servers/bubblewrap.ts'

const project = {
  'src/price.py': 'def total(prices, discount):\n    return sum(prices) - discount * 2\n',
  'src/server.py': [
    'import http.server, sys',
    'print("listening", flush=True)',
    'server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)',
    'server.serve_forever()',
  ].join('\n'),
  'test_price.py': [
    'import sys, unittest',
    'sys.path.insert(0, "src")',
    'from price import total',
    'class Prices(unittest.TestCase):',
    '    def test_discount(self):',
    '        for line in range(3000): print("checking", line)',
    '        self.assertEqual(total([10, 20], 5), 25)',
    'unittest.main()',
  ].join('\n'),
  '.gitignore': '__pycache__/\n',
}

describe.each([
  ['without isolation', 'local', true],
  ['in bubblewrap', 'bubblewrap', missing === undefined],
] as const)('a model works on files %s', (_, kind, canRun) => {
  test.skipIf(!canRun)('from the fault to the log of a server', async () => {
    const { root } = workspace(project)
    const sandbox = await (kind === 'local' ? local(root) : walled(root))
    const executor = createExecutor({
      use: [
        workspaceTools(sandbox),
        shellTools(sandbox, { requiresConfirmation: false }),
        todoTools(),
        artifactTools(),
      ],
    })
    const format = anthropic()
    let turns = 0

    /** One turn: the model's message, and the words of the reply. */
    async function turn(name: string, input: object): Promise<{ readonly text: string; readonly result: ToolResult }> {
      const id = `toolu_${turns++}`
      const message = { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] }
      const [result] = await executor.executeToolCalls(format.calls(message), { session: 'chat' })
      if (result === undefined) throw new Error('there was no call')
      return { text: JSON.stringify(format.results([result], message)), result }
    }
    function dataOf({ content }: ToolResult): Record<string, unknown> {
      const [block] = content
      return (block?.type === 'json' ? block.data : {}) as Record<string, unknown>
    }

    await turn('todo_write', { todos: [{ content: 'Mend the discount', status: 'in_progress' }] })
    expect((await turn('fs_glob', { pattern: '**/*.py' })).text).toContain('src/price.py')
    expect((await turn('fs_grep', { pattern: 'discount \\*', glob: '*.py' })).text).toContain('src/price.py:2:')
    expect((await turn('fs_read', { path: 'src/price.py' })).text).toContain('return sum(prices)')

    const failing = dataOf((await turn('bash_run', { command: 'python3 test_price.py' })).result)
    expect(failing).toMatchObject({ exitCode: 1, stdoutArtifact: expect.any(String) })
    expect(failing['stderr']).toContain('20 != 25')
    const found = await turn('artifact_grep', { artifact: failing['stdoutArtifact'], pattern: 'checking 1777$' })
    expect(found.text).toContain('checking 1777')

    const wrong = await turn('fs_edit', { path: 'src/price.py', edits: [{ old: 'discount*2', new: 'discount' }] })
    expect(wrong.text).toContain('nearest line is 2')
    await turn('fs_edit', { path: 'src/price.py', edits: [{ old: 'discount * 2', new: 'discount' }] })
    expect(dataOf((await turn('bash_run', { command: 'python3 test_price.py' })).result)).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(root, 'src/price.py'), 'utf8')).toContain('- discount\n')

    const mark = `mark-${randomUUID()}`
    const command = `python3 src/server.py ${mark}`
    const { pid } = dataOf((await turn('bash_run', { command, background: true })).result)
    const log = async (): Promise<unknown> => dataOf((await turn('bash_logs', { pid })).result)['output']
    await expect.poll(log, { timeout: 30_000 }).toContain('listening')
    expect(withMark(mark).length).toBeGreaterThan(0)
    expect(dataOf((await turn('bash_kill', { pid })).result)).toMatchObject({ status: 'killed' })
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
    await executor.close()
  })
})
