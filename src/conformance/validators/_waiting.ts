import { describe, expect, test } from 'vitest'
import { createExecutor, type Schema, type Tool, type ToolResult } from '../../index.ts'
import type { LookUp } from '../validators.ts'

/** A tool of a schema, and the inputs that its handler was given. */
export interface Probe {
  readonly probe: Tool
  readonly inputs: unknown[]
}

/** Tests a schema that waits for an answer from elsewhere. */
export function describeWaiting(
  name: string,
  lookingUp: (lookUp: LookUp) => Schema,
  probeOf: (schema: Schema, options?: { readonly timeout?: number }) => Probe,
  run: (probe: Probe, args: unknown) => Promise<ToolResult>,
): void {
  const answers = (id: string): Promise<boolean> =>
    new Promise((resolve) => setTimeout(() => resolve(id === 'known'), 50))

  describe(`${name}: a refinement that has to be waited for`, () => {
    test('lets through what it knows', async () => {
      const probed = probeOf(lookingUp(answers))
      expect(await run(probed, { id: 'known' })).toMatchObject({ status: 'ok' })
      expect(probed.inputs).toEqual([{ id: 'known' }])
    })

    test('refuses what it does not know', async () => {
      const probed = probeOf(lookingUp(answers))
      const result = await run(probed, { id: 'other' })
      expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(result.error?.issues?.map((issue) => issue.path)).toEqual([['id']])
      expect(probed.inputs).toEqual([])
    })

    test('is not asked about what has the wrong type', async () => {
      let count = 0
      const probed = probeOf(lookingUp(() => Promise.resolve(++count > 0)))
      expect(await run(probed, { id: 7 })).toMatchObject({ error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(count).toBe(0)
    })

    test('that rejects breaks the call, which may be tried again', async () => {
      let count = 0
      const lookUp = async (): Promise<boolean> => {
        count++
        throw new Error('the database is down')
      }
      const probed = probeOf(lookingUp(lookUp))
      const result = await run(probed, { id: 'known' })
      expect(result).toMatchObject({ status: 'error', effect: 'none' })
      expect(result.error).toMatchObject({ code: 'E_VALIDATOR_FAILED', retryable: true })
      expect(probed.inputs).toEqual([])
      expect(count).toBe(1)
      await expect(probed.probe.validate({ id: 'known' })).rejects.toMatchObject({ code: 'E_VALIDATOR_FAILED' })
      expect(count).toBe(2)
    })

    test('that never settles is given up at the deadline', async () => {
      const probed = probeOf(
        lookingUp(() => new Promise<boolean>(() => {})),
        { timeout: 20 },
      )
      expect(await run(probed, { id: 'known' })).toMatchObject({ status: 'timed_out', effect: 'none' })
      expect(probed.inputs).toEqual([])
    })

    test('keeps calls that run side by side apart', async () => {
      const probed = probeOf(lookingUp(answers))
      const executor = createExecutor({ tools: [probed.probe], concurrency: 10 })
      const ids = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'known' : 'other'))
      const results = await executor.executeToolCalls(ids.map((id) => ({ name: 'probe', args: { id } })))
      expect(results.map(({ status }) => status)).toEqual(ids.map((id) => (id === 'known' ? 'ok' : 'error')))
    })
  })
}
