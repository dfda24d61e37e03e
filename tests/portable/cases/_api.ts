import { createExecutor, memoryStore, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import type { OpenApiOptions, OpenApiTools } from 'toolwright/imports/openapi'
import type { Place } from '../run.ts'

/** What the API of a host got. */
export interface GotRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** One character for each byte. */
  readonly body: string
}

/**
 * How the API answers a request that has this in its query as `do`. Texts may have `{{self}}` for the URL, and `{{plain}}`,
 * `{{hex}}` and others for the credential.
 */
export interface Script {
  /** Default: `200 OK`. */
  readonly status?: string
  readonly headers?: Readonly<Record<string, string>>
  /** So many further headers. */
  readonly moreHeaders?: number
  readonly body?: string
  /** How often the body is repeated. */
  readonly times?: number
  readonly isGzip?: boolean
  /** How the end of the body is told. A number is a length, true or not. Default: by its length. */
  readonly framing?: 'length' | 'chunked' | 'close' | number
  /** After so many bytes of the answer the connection is closed, its head included. */
  readonly cut?: number
  /** Only so many bytes of the body are sent. */
  readonly cutBody?: number
  /** Chunks without their end. */
  readonly isUnfinished?: boolean
  /** The connection stays open. */
  readonly isEndless?: boolean
  /** The bytes of each piece. */
  readonly piece?: number
  /** How the same request is answered the next time. Default: in the same way. */
  readonly next?: Script
}

export type Json = Record<string, unknown>

/** Makes a document of operations by their keys, such as `GET /pets/{id}`. */
export function documentOf(operations: Readonly<Record<string, Json>>, more: Json = {}): Json {
  const paths: Record<string, Json> = {}
  for (const [key, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = key.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: { responses: {}, ...operation } }
  }
  return { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }
}

/** A document whose every operation needs the scheme `token`. */
export const bearer: Json = {
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{ token: [] }],
}

/** Two operations whose requests say how they are answered. */
export const scripted: Readonly<Record<string, Json>> = {
  'GET /p': { operationId: 'get', parameters: [{ name: 'do', in: 'query', schema: { type: 'string' } }] },
  'POST /p': { operationId: 'post', parameters: [{ name: 'do', in: 'query', schema: { type: 'string' } }] },
}

/** The part of an API that one case has. */
export interface LocalApi {
  readonly url: string
  /** The same at another origin. */
  readonly otherUrl: string
  /** Returns what it got since it was last asked. */
  got(): Promise<readonly GotRequest[]>
  /** Returns what came of the requests for `/pay?seed=7`, each of which has a key: some are lost, and most answers are cut. */
  paid(): Promise<Payments>
}

/** The payments of one part of an API. */
export interface Payments {
  readonly requests: number
  /** How often each key was paid. */
  readonly times: readonly number[]
}

export function localApi({ api, otherApi }: Place): LocalApi {
  const part = crypto.randomUUID()
  const asked = async (what: string): Promise<unknown> => (await fetch(`${api}/${part}/${what}`)).json()
  return {
    url: `${api}/${part}`,
    otherUrl: `${otherApi}/${part}`,
    got: async () => (await asked('got')) as readonly GotRequest[],
    paid: async () => (await asked('paid')) as Payments,
  }
}

export interface ReadyApi {
  readonly api: OpenApiTools
  readonly executor: ToolExecutor
  /** What was reported, and the events. */
  readonly notes: string[]
  readonly call: (name: string, args?: unknown, options?: Parameters<ToolExecutor['execute']>[1]) => Promise<ToolResult>
  /** Calls an operation whose request says how it is answered. */
  readonly answered: (
    name: string,
    script: Script,
    options?: Parameters<ToolExecutor['execute']>[1],
  ) => Promise<ToolResult>
}

/** Makes the tools of a document, and an executor for them. */
export async function readyApi(
  document: object,
  options: OpenApiOptions,
  use: readonly Extension[] = [],
): Promise<ReadyApi> {
  const { openapiTools } = await import('toolwright/imports/openapi')
  const notes: string[] = []
  const api = await openapiTools(document, { report: (error) => void notes.push(String(error)), ...options })
  const executor = createExecutor({ use: [api, { store: memoryStore() }, ...use] })
  executor.on('*', (event) => void notes.push(JSON.stringify(event)))
  const call: ReadyApi['call'] = (name, args = {}, more) =>
    executor.execute({ id: 'call', name, args }, { session: 's', ...more })
  return {
    api,
    executor,
    notes,
    call,
    answered: (name, script, more) => call(name, { do: JSON.stringify(script) }, more),
  }
}

/** Returns the status, the effect and the category of a result, in short. */
export function shortly({ status, effect, error }: ToolResult): string {
  return [status, effect, ...(error?.category === undefined ? [] : [error.category])].join(' ')
}
