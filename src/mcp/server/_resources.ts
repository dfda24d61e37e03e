import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { isToolError, type SpooledArtifact } from '../../index.ts'
import type { McpResource, Peer, ServerSettings } from './_settings.ts'

const scheme = 'toolwright://artifact/'
const mostGranted = 10_000

/** Returns the URI under which a client reads an artifact. */
export function uriOf(handle: string): string {
  return `${scheme}${encodeURIComponent(handle)}`
}

/** The sessions of artifacts that were linked to clients without a session: such a client reads an artifact by its handle. */
export class GrantedResources {
  readonly #sessions = new Map<string, string>()

  remember(handle: string, peer: Peer): void {
    if (!peer.isLone) return
    this.#sessions.set(handle, peer.session)
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= mostGranted) break
      this.#sessions.delete(oldest)
    }
  }

  sessionOf(handle: string, peer: Peer): string {
    return (peer.isLone ? this.#sessions.get(handle) : undefined) ?? peer.session
  }
}

/** Lists what a client may read: the application's resources, then the artifacts of the session, newest first. */
export function resourcesFor({ session }: Peer, { executor, resources }: ServerSettings): Resource[] {
  const artifacts = executor.artifacts.list(session).map(({ handle, mediaType, byteLength, toolName }) => ({
    uri: uriOf(handle),
    name: handle,
    description: `A result of ${toolName}`,
    mimeType: mediaType,
    size: byteLength,
  }))
  const own = resources
    .filter(({ uri }) => !isTemplate(uri))
    .map((resource) => ({ uri: resource.uri, ...listedResource(resource) }))
  return [...own, ...artifacts]
}

/** Lists the URI templates. */
export function templatesFor({ resources }: ServerSettings): ResourceTemplateType[] {
  const own = resources
    .filter(({ uri }) => isTemplate(uri))
    .map((resource) => ({ uriTemplate: resource.uri, ...listedResource(resource) }))
  const artifact = {
    uriTemplate: `${scheme}{handle}{?start,end}`,
    name: 'artifact',
    description:
      'Bytes of a stored result, from `start` up to and without `end`. Default: from the beginning, as many as are given at once.',
  }
  return [...own, artifact]
}

/** Answers `resources/read`. */
export async function readResource(uri: string, peer: Peer, settings: ServerSettings): Promise<ReadResourceResult> {
  if (uri.startsWith(scheme)) return readArtifact(uri, peer, settings)
  for (const resource of settings.resources) {
    const names = templateValues(resource.uri, uri)
    if (names === undefined) continue
    const { mimeType, meta } = resource
    const contents = await readOf(resource, uri, names, settings)
    const head = { uri, ...(mimeType === undefined ? undefined : { mimeType }), ...(meta && { _meta: { ...meta } }) }
    const body = typeof contents === 'string' ? { text: contents } : { blob: base64Text(contents) }
    return { contents: [{ ...head, ...body }] }
  }
  throw new ResourceNotFoundError(uri)
}

async function readOf(
  resource: McpResource,
  uri: string,
  names: Readonly<Record<string, string>>,
  { report }: ServerSettings,
): Promise<string | Uint8Array> {
  try {
    return await resource.read(uri, names)
  } catch (error) {
    report(error) // the cause is for the application, not for the client
    throw new ResourceNotFoundError(uri)
  }
}

async function readArtifact(uri: string, peer: Peer, settings: ServerSettings): Promise<ReadResourceResult> {
  const { handle, start, end } = resourceRange(uri)
  const artifact = await openArtifact(uri, handle, peer, settings)
  const size = artifact.byteLength()
  const from = Math.min(start, size)
  const bytes = await artifact.bytes(from, Math.min(end, from + settings.readLimit))
  const { mediaType } = artifact
  const text = isTextMedia(mediaType) ? wholeUtf8(bytes, from + bytes.byteLength < size) : undefined
  const next = from + (text?.byteLength ?? bytes.byteLength)
  return {
    contents: [
      {
        uri,
        mimeType: mediaType,
        ...(text === undefined ? { blob: base64Text(bytes) } : { text: new TextDecoder().decode(text) }),
        _meta: {
          'toolwright/start': from,
          'toolwright/end': next,
          'toolwright/size': size,
          ...(next < size ? { 'toolwright/next': `${uriOf(handle)}?start=${next}` } : undefined),
        },
      },
    ],
  }
}

async function openArtifact(
  uri: string,
  handle: string,
  peer: Peer,
  { executor, granted }: ServerSettings,
): Promise<SpooledArtifact> {
  try {
    return await executor.artifacts.open(handle, granted.sessionOf(handle, peer))
  } catch (error) {
    // A client cannot distinguish an artifact that never existed, is gone, or is of another session.
    if (isToolError(error) && error.code === 'E_ARTIFACT') throw new ResourceNotFoundError(uri)
    throw error
  }
}

function resourceRange(uri: string): { readonly handle: string; readonly start: number; readonly end: number } {
  const [path = '', query = ''] = uri.slice(scheme.length).split('?', 2)
  const parameters = new URLSearchParams(query)
  const number = (name: string, otherwise: number): number => {
    const parameter = parameters.get(name)
    if (parameter === null) return otherwise
    if (/^\d{1,15}$/.test(parameter)) return Number(parameter)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `"${name}" has to be a whole number of bytes.`)
  }
  try {
    return { handle: decodeURIComponent(path), start: number('start', 0), end: number('end', Infinity) }
  } catch (error) {
    if (error instanceof URIError) throw new ResourceNotFoundError(uri)
    throw error
  }
}

/** Returns the bytes without an incomplete UTF-8 character at their end. */
function wholeUtf8(bytes: Uint8Array, isCut: boolean): Uint8Array {
  if (!isCut) return bytes
  let start = bytes.byteLength - 1
  while (start >= Math.max(0, bytes.byteLength - 4) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start > 0 && start + length > bytes.byteLength ? bytes.subarray(0, start) : bytes
}

function isTextMedia(mediaType: string): boolean {
  const essence = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return essence.startsWith('text/') || /^application\/(?:.*\+)?(?:json|xml|yaml)$/.test(essence)
}

function listedResource({ name, title, description, mimeType, meta }: McpResource): Omit<Resource, 'uri'> {
  return {
    name,
    ...(title === undefined ? undefined : { title }),
    ...(description === undefined ? undefined : { description }),
    ...(mimeType === undefined ? undefined : { mimeType }),
    ...(meta && { _meta: { ...meta } }),
  }
}

function isTemplate(uri: string): boolean {
  return uri.includes('{')
}

/** Returns the values of a template's names if a URI matches it, else `undefined`. Compares part by part, in linear time. */
function templateValues(template: string, uri: string): Readonly<Record<string, string>> | undefined {
  const parts = uri.split('/')
  const patterns = template.split('/')
  if (parts.length !== patterns.length) return undefined
  const names: Record<string, string> = Object.create(null)
  for (const [index, pattern] of patterns.entries()) {
    const part = parts[index] ?? ''
    const open = pattern.indexOf('{')
    const close = pattern.indexOf('}', open)
    if (open < 0 || close < 0) {
      if (part !== pattern) return undefined
      continue
    }
    const before = pattern.slice(0, open)
    const after = pattern.slice(close + 1)
    const isMatch = part.length > before.length + after.length && part.startsWith(before) && part.endsWith(after)
    if (!isMatch) return undefined
    names[pattern.slice(open + 1, close)] = part.slice(before.length, part.length - after.length)
  }
  return names
}

function base64Text(bytes: Uint8Array): string {
  let binary = ''
  for (let start = 0; start < bytes.byteLength; start += 32_768) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 32_768))
  }
  return btoa(binary)
}
