import type { Tool, ToolResult } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { has } from '../_assert.ts'
import type { ReadyApi } from './_api.ts'

/** A token that every encoding writes in another way. */
export const canary = 'cANaRy0+/=9?&"<7>xQ4'

/** The formats of six providers, as far as they are used here. */
interface AnyFormat {
  definitions(tools: readonly Tool[]): unknown
  results(results: ToolResult[]): unknown
}

export const sixFormats: readonly AnyFormat[] = [anthropic(), gemini(), mcp(), openai(), openaiResponses(), aiSdk()]

export function base64Url(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

let traces: readonly string[] | undefined

/** Returns pieces of all forms of the token, as they stand within others. */
function tracesOfToken(): readonly string[] {
  if (traces !== undefined) return traces
  const aligned = ['', 'x', 'xx'].map((before) => btoa(`${before}${canary}`))
  const forms = [
    canary,
    encodeURIComponent(canary),
    JSON.stringify(canary).slice(1, -1),
    Array.from(canary, (character) => character.charCodeAt(0).toString(16)).join(''),
    ...aligned,
    ...aligned.map(base64Url),
  ]
  traces = forms.map((form) => form.slice(4, 18))
  return traces
}

/** What an error has that its JSON has not. */
export function wordsOfError({ error }: ToolResult): readonly unknown[] {
  const { cause } = (error ?? {}) as { readonly cause?: Partial<Error> }
  return [error?.message, error?.stack, cause?.message, cause?.stack, String(cause?.cause)]
}

/** All that calls have left behind, as text. */
export async function leftBehind({ api, executor, notes }: ReadyApi, results: readonly ToolResult[]): Promise<string> {
  const artifacts = executor.artifacts
    .list('s')
    .map(async ({ handle }) => (await executor.artifacts.open(handle, 's')).asString())
  return JSON.stringify([
    results,
    results.map(({ value, content }) => [value, content]),
    results.map(wordsOfError),
    notes,
    await Promise.all(artifacts),
    await executor.calls.list({}),
    await Promise.all(results.map(({ invocationId }) => executor.calls.get(invocationId))),
    sixFormats.map((format) => [format.definitions(api.tools()), format.results([...results])]),
  ])
}

/** Expects that no form of the token is in a text. */
export function showsNothing(text: string, where = 'a text'): void {
  for (const trace of tracesOfToken()) {
    const at = text.indexOf(trace)
    has(at < 0, `the token is told in ${where}: ${text.slice(Math.max(0, at - 200)).slice(0, 300)}`)
  }
}
