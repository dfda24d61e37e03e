import type { ArtifactQuery, JsonArtifact } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import { filter, pluck } from './json/_filter.ts'
import { wholeOf } from './json/_find.ts'
import { lineIndexOf } from './json/_lines.ts'
import { requirePointer, valueAt } from './json/_pointer.ts'
import { integerField, objectSchema, type QueryContext, type Ranged } from './_query.ts'

/** The most bytes of a document that a query of a model loads whole. */
const largestWhole = 67_108_864

const pointer = {
  type: 'string',
  description: 'A JSON Pointer (RFC 6901), such as /items/0/name. Default: the whole document',
}
const pathOption = {
  type: 'string',
  description:
    'A JSONPath (RFC 9535), such as $.items[?@.price < 10].name or $..id; patterns in match(@.name, "a.*") and search() are written out',
}
const limitedRange = {
  start: integerField(0, 'How many results to skip. Default: 0'),
  limit: {
    ...integerField(1, 'How many to return at most; if as many are returned, there may be more. Default: 100'),
    maximum: 1_000,
  },
}

const skip_invalid = {
  type: 'boolean',
  description: 'Whether to skip lines of JSON Lines that are not JSON. Default: false, and such a line is an error',
}

/** The queries for JSON and JSON Lines. */
export const jsonQueries: Readonly<Record<string, ArtifactQuery>> = {
  json_type: {
    description:
      'Tells the type of a JSON artifact, or of the value at a pointer in it: object, array, string, number, boolean or null.',
    inputSchema: objectSchema({ pointer }),
    async answer(artifact: JsonArtifact, { pointer: at = '' }: Pointed) {
      return isAllLines(artifact, at) ? 'array' : jsonType(await artifactPart(artifact, at))
    },
  },
  json_keys: {
    description:
      'Lists the keys of an object in a JSON artifact. For an array it tells the length, and the keys of the first item.',
    inputSchema: objectSchema({ pointer, ...limitedRange }),
    async answer(artifact: JsonArtifact, { pointer: at = '', start = 0, limit = 100 }: Pointed & Ranged) {
      const isLined = isAllLines(artifact, at)
      const part = isLined ? await artifact.slice(0, 1) : await artifactPart(artifact, at)
      if (typeof part !== 'object' || part === null)
        return part === undefined ? undefined : `It is a ${jsonType(part)}, which has no keys.`
      if (!Array.isArray(part)) return Object.keys(part).slice(start, start + limit)
      const first: unknown = part[0]
      const length = isLined ? await artifact.length() : part.length
      const keys = typeof first === 'object' && first !== null && !Array.isArray(first) ? Object.keys(first) : []
      return { type: 'array', length, keysOfFirstItem: keys.slice(start, start + limit) }
    },
  },
  json_length: {
    description:
      'Tells how many items an array in a JSON artifact has, how many keys an object, or how many characters a string.',
    inputSchema: objectSchema({ pointer }),
    async answer(artifact: JsonArtifact, { pointer: at = '' }: Pointed) {
      if (isAllLines(artifact, at)) return artifact.length()
      const part = await artifactPart(artifact, at)
      if (typeof part === 'string' || Array.isArray(part)) return part.length
      if (part === undefined) return undefined
      return typeof part === 'object' && part !== null ? Object.keys(part).length : 1
    },
  },
  json_get: {
    description: 'Shows the value at a pointer in a JSON artifact.',
    inputSchema: objectSchema({ pointer }),
    answer: (artifact: JsonArtifact, { pointer: at = '' }: Pointed) =>
      isAllLines(artifact, at) ? artifact.slice(0, 100) : artifactPart(artifact, at),
  },
  json_slice: {
    description: 'Shows the items of an array in a JSON artifact from `start` up to and without `end`, counted from 0.',
    inputSchema: objectSchema({
      pointer,
      start: { type: 'integer', description: 'The first item; a negative number counts from the end. Default: 0' },
      end: {
        type: 'integer',
        description: 'The item before which to stop. Default: 100 more than start; 1,000 more at most',
      },
    }),
    async answer(
      artifact: JsonArtifact,
      { pointer: at = '', start = 0, end }: Pointed & { readonly start?: number; readonly end?: number },
    ) {
      const part = isAllLines(artifact, at) ? artifact : await artifactPart(artifact, at)
      if (part === undefined) return undefined
      const isLined = part === artifact
      if (!isLined && !Array.isArray(part)) return `It is a ${jsonType(part)}, not an array.`
      const countsBack = start < 0 || (end ?? 0) < 0
      const length = isLined && countsBack ? await artifact.length() : Array.isArray(part) ? part.length : Infinity
      const from = start < 0 ? Math.max(0, length + start) : start
      const wanted = end === undefined ? from + 100 : end < 0 ? length + end : end
      const to = Math.max(from, Math.min(wanted, from + 1_000))
      return Array.isArray(part) ? part.slice(from, to) : artifact.slice(from, to)
    },
  },
  json_filter: {
    description:
      'Finds values in a JSON artifact with a JSONPath, and shows them in order. JSON Lines are one array, and each line is an item.',
    inputSchema: objectSchema({ path: pathOption, skip_invalid, ...limitedRange }, ['path']),
    async answer(
      artifact: JsonArtifact,
      { path: jsonPath, start, limit = 100, skip_invalid: skipInvalid }: PathInput,
      queryContext?: QueryContext,
    ) {
      requireWhole(artifact)
      return filter(artifact, jsonPath, { start, limit, skipInvalid, signal: queryContext?.signal })
    },
  },
  json_pluck: {
    description: 'Finds values in a JSON artifact with a JSONPath, and shows only some members of each.',
    inputSchema: objectSchema(
      {
        path: pathOption,
        members: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          maxItems: 50,
          description: 'Names of members, or JSON Pointers such as /user/name',
        },
        skip_invalid,
        ...limitedRange,
      },
      ['path', 'members'],
    ),
    async answer(
      artifact: JsonArtifact,
      {
        path: jsonPath,
        members,
        start,
        limit = 100,
        skip_invalid: skipInvalid,
      }: PathInput & { readonly members: readonly string[] },
      queryContext?: QueryContext,
    ) {
      requireWhole(artifact)
      return pluck(artifact, jsonPath, members, { start, limit, skipInvalid, signal: queryContext?.signal })
    },
  },
}

interface Pointed {
  readonly pointer?: string
}

interface PathInput extends Ranged {
  readonly path: string
  readonly skip_invalid?: boolean
}

/** Whether the pointer selects all of JSON Lines, which is never loaded whole. */
function isAllLines(artifact: JsonArtifact, at: string): boolean {
  return at === '' && lineIndexOf(artifact) !== undefined
}

async function artifactPart(artifact: JsonArtifact, at: string): Promise<unknown> {
  requireWhole(artifact)
  return lineIndexOf(artifact) === undefined ? valueAt(await wholeOf(artifact), requirePointer(at)) : artifact.get(at)
}

function requireWhole(artifact: JsonArtifact): void {
  const size = artifact.byteLength()
  if (size <= largestWhole || lineIndexOf(artifact) !== undefined) return
  throw new ArtifactError(
    `The artifact has ${size.toLocaleString('en')} bytes of JSON, too many to read at once. Ask about its lines or bytes instead.`,
  )
}

function jsonType(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
