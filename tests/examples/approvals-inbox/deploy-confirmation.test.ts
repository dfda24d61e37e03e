// A deployment to staging goes through, one to production waits until somebody has said yes.
import { createExecutor, tool, type ToolEvent, type ToolExecutor, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { expect, test } from 'vitest'
import { z } from 'zod'

interface Office {
  readonly executor: ToolExecutor
  readonly deployed: string[]
  readonly questions: string[]
}

function office(): Office {
  const deployed: string[] = []
  const deploy = tool({
    name: 'deploy_application',
    description: 'Deploys the application to a specified environment',
    inputSchema: z.object({ environment: z.enum(['staging', 'production']), version: z.string() }),
    requiresConfirmation: ({ environment }) => environment === 'production',
    confirmationMessage: ({ environment, version }) =>
      `Deploy version ${version} to ${environment}? ` +
      (environment === 'production' ? 'This will affect live users.' : 'This is a staging deployment.'),
    handler: ({ environment, version }) => {
      deployed.push(`${version} to ${environment}`)
      return [{ type: 'text', text: `Successfully deployed ${version} to ${environment}` }]
    },
  })
  const executor = createExecutor({ tools: [deploy], use: [memoryJournal()] })
  const questions: string[] = []
  executor.on('call:waiting', ({ prompt }) => void questions.push(prompt))
  return { executor, deployed, questions }
}

function deployment(executor: ToolExecutor, environment: string, version = '1.2.3'): Promise<ToolResult> {
  return executor.execute({ id: 'toolu_1', name: 'deploy_application', args: { environment, version } })
}

function words({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

test('a deployment to staging asks nobody', async () => {
  const { executor, deployed, questions } = office()
  const result = await deployment(executor, 'staging')
  expect(words(result)).toBe('Successfully deployed 1.2.3 to staging')
  expect([deployed, questions]).toEqual([['1.2.3 to staging'], []])
})

test('a deployment to production waits, and goes on as the same call when somebody allows it', async () => {
  const { executor, deployed, questions } = office()
  const waiting = await deployment(executor, 'production')
  expect(waiting).toMatchObject({ status: 'waiting', isError: false, effect: 'none' })
  expect(questions).toEqual(['Deploy version 1.2.3 to production? This will affect live users.'])
  expect(deployed).toEqual([])

  const done = await executor.calls.decide(waiting.token ?? '', 'allow', { decidedBy: 'ada', note: 'release day' })
  expect(done).toMatchObject({ status: 'ok', id: 'toolu_1', invocationId: waiting.invocationId })
  expect(deployed).toEqual(['1.2.3 to production'])
  const { state, approval, auditTrail } = await executor.calls.get(done.invocationId)
  expect(state).toBe('COMPLETED')
  expect(approval).toMatchObject({ required: true, decision: 'allow', decidedBy: 'ada', note: 'release day' })
  expect(auditTrail.map((entry) => entry.state)).toEqual([
    'PENDING',
    'APPROVAL_REQUIRED',
    'APPROVED',
    'EXECUTING',
    'COMPLETED',
  ])
})

test('a deployment that somebody refuses is a failed result that the model can read', async () => {
  const { executor, deployed } = office()
  const { token = '' } = await deployment(executor, 'production')
  const denied = await executor.calls.decide(token, 'deny', { note: 'not on a Friday' })
  expect(denied).toMatchObject({ status: 'denied', isError: true, effect: 'none' })
  expect(words(denied)).toContain('Permission denied by user: not on a Friday')
  expect(deployed).toEqual([])
})

test('a deployment whose version somebody corrects is a new call, which is linked to the old one', async () => {
  const { executor, deployed } = office()
  const waiting = await deployment(executor, 'production')
  const resumed: ToolEvent[] = []
  executor.on('call:resumed', (event) => void resumed.push(event))
  const editedArgs = { environment: 'production', version: '1.2.4' }
  const done = await executor.calls.decide(waiting.token ?? '', 'allow', { editedArgs })
  expect(deployed).toEqual(['1.2.4 to production'])
  expect(done.callId).not.toBe(waiting.callId)
  expect(resumed).toMatchObject([{ editedFrom: waiting.callId, callId: done.callId, args: editedArgs }])
})

test('an environment that there is not is refused before anybody is asked', async () => {
  const { executor, deployed, questions } = office()
  expect((await deployment(executor, 'moon')).error?.code).toBe('E_INVALID_TOOL_ARGS')
  expect([deployed, questions]).toEqual([[], []])
})
