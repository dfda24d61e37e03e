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

/** Returns one character for each byte of UTF-8. */
function binaryText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

function hex(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function base64Url(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

/** Writes a text as a page of HTML has it. */
function page(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The ways in which a server repeats a token, each within other text. */
export const echoWays: readonly ((token: string, before: string) => string)[] = [
  (token) => token,
  (token) => encodeURIComponent(token),
  (token) => encodeURI(token),
  page,
  (token) => JSON.stringify(token),
  (token) => JSON.stringify(JSON.stringify({ token })),
  (token) => JSON.stringify(token).replaceAll('/', '\\/'),
  hex,
  (token, before) => btoa(binaryText(before + token + before)),
  (token, before) => base64Url(btoa(binaryText(`${before}Bearer ${token}`))),
  (token, before) => `data:${btoa(binaryText(`ada:${token}${before}`))}`,
]
/** What tokens, and what stands around them, are made of. */
export const echoCharacters: readonly string[] = 'abcXYZ019-_.~+/=&?"<>%\\ ä€'.split('')
export const echoStatuses: readonly number[] = [200, 201, 302, 400, 401, 422, 500]
export const echoMediaTypes: readonly string[] = [
  'application/json',
  'text/plain',
  'application/problem+json',
  'application/pdf',
  'text/event-stream',
  '',
]

/** What a server repeats of a token. */
interface Echo {
  readonly token: string
  /** The token, in one of the ways. */
  readonly echo: string
  readonly status: number
  readonly mediaType: string
  /** Whether JSON is whole, or the bare text. */
  readonly isWhole: boolean
}

/** Makes an answer that repeats a token everywhere. @param cut After how many bytes its body goes on in a second piece. */
export function echoResponse({ token, echo, status, mediaType, isWhole }: Echo, cut: number): Response {
  const text = mediaType.endsWith('json') && isWhole ? JSON.stringify({ title: echo, detail: [echo], [echo]: 1 }) : echo
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, cut))
      controller.enqueue(bytes.slice(cut))
      controller.close()
    },
  })
  const headerText = binaryText(echo)
  const headers = {
    ...(mediaType !== '' && { 'content-type': mediaType }),
    'x-told': headerText,
    location: `https://evil.example/${encodeURIComponent(token)}`,
    link: headerText,
  }
  return new Response(body, { status, statusText: headerText, headers })
}

let traces: readonly string[] | undefined

/** Returns pieces of all forms of the token, as they stand within others. */
function tracesOfToken(): readonly string[] {
  if (traces !== undefined) return traces
  const aligned = ['', 'x', 'xx'].map((before) => btoa(`${before}${canary}`))
  const forms = [
    canary,
    encodeURIComponent(canary),
    encodeURI(canary),
    page(canary),
    JSON.stringify(canary).slice(1, -1),
    hex(canary),
    ...aligned,
    ...aligned.map(base64Url),
  ]
  traces = forms.map((form) => form.slice(4, 18))
  return traces
}

/** Whether a text has a form of the token. */
export function tellsToken(text: string): boolean {
  return tracesOfToken().some((trace) => text.includes(trace))
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
