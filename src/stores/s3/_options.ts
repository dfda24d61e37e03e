import {
  booleanOption,
  checkOptions,
  integerFrom,
  numberFrom,
  required,
  timerOption,
  type OptionCheck,
  type OptionChecks,
} from '../../extension.ts'

/** An access key of S3. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Only for temporary credentials. */
  readonly sessionToken?: string | undefined
}

/** The options of `s3Store`. */
export interface S3StoreOptions {
  /** The name of the bucket, which must exist. */
  readonly bucket: string
  /** Fixed credentials, or a function that is called before each request and should cache them. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>)
  /** Default: `us-east-1`. */
  readonly region?: string
  /** The URL of the service, such as `http://localhost:9000`. Default: Amazon's URL for the region. */
  readonly endpoint?: string
  /** Whether the bucket's name is in the path rather than in the host. Default: only with an `endpoint`. */
  readonly pathStyle?: boolean
  /** The prefix of the objects' keys, such as `agents/artifacts/`. Default: empty. */
  readonly prefix?: string
  /** Bytes of one part of an upload; two parts are in memory. Default: 8,388,608 (8 MiB); from 5 MiB to 512 MiB. */
  readonly partLength?: number
  /** The most bytes that one artifact may have. Default: those of 10,000 parts, the most that S3 allows. */
  readonly maximumBytes?: number
  /** How long one request may take, with its body and its answer, in milliseconds. Default: 60,000. */
  readonly timeout?: number
}

/** The checked options. */
export interface S3Settings {
  /** The URL of the bucket, followed by the prefix of the keys. */
  readonly url: string
  readonly region: string
  readonly credentials: () => S3Credentials | Promise<S3Credentials>
  readonly partLength: number
  readonly maximumBytes: number
  readonly timeout: number
}

const smallestPart = 5_242_880
const largestPart = 536_870_912
const mostUploadParts = 10_000
/** Only characters that every server and every signature encodes in the same way. */
const prefixPattern = /^(?=.{0,500}$)(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*)?$/

const s3Checks: OptionChecks<S3StoreOptions> = {
  bucket: required(matching('the name of a bucket', /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)),
  region: matching('the name of a region', /^[a-z0-9-]{1,40}$/),
  prefix: matching('letters, digits, `_`, `.`, `-` and `/`, 500 at most,', prefixPattern),
  // The URL may have a password, which no message shows.
  endpoint: { expected: 'an http or https URL without credentials', accepts: isPlainUrl, isSecret: true },
  pathStyle: booleanOption,
  credentials: {
    expected: 'an access key with its secret, or a function',
    accepts: (value) => isAsked(value) || isPair(value),
    isRequired: true,
    isSecret: true,
  },
  timeout: timerOption,
  partLength: integerFrom(smallestPart, largestPart),
  maximumBytes: numberFrom(1),
}

export function settingsOf(options: S3StoreOptions): S3Settings {
  checkOptions('s3Store', options, s3Checks)
  const { bucket, credentials, region = 'us-east-1', endpoint, prefix = '' } = options
  const { partLength = 8_388_608, timeout = 60_000, pathStyle = endpoint !== undefined } = options
  const { maximumBytes = Infinity } = options
  return {
    url: `${bucketUrl(endpoint ?? `https://s3.${region}.amazonaws.com`, bucket, pathStyle)}/${prefix}`,
    region,
    credentials: isAsked(credentials) ? credentials : () => credentials,
    partLength,
    maximumBytes: Math.min(maximumBytes, partLength * mostUploadParts),
    timeout,
  }
}

function bucketUrl(endpoint: string, bucket: string, pathStyle: boolean): string {
  const { protocol, host, pathname } = new URL(endpoint)
  const path = pathname.replace(/\/+$/, '')
  return pathStyle ? `${protocol}//${host}${path}/${bucket}` : `${protocol}//${bucket}.${host}${path}`
}

function matching(expected: string, pattern: RegExp): OptionCheck {
  return { expected, accepts: (value) => typeof value === 'string' && pattern.test(value) }
}

function isPlainUrl(endpoint: unknown): boolean {
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return `${url.username}${url.password}${url.search}${url.hash}` === ''
}

function isAsked(credentials: unknown): credentials is () => S3Credentials | Promise<S3Credentials> {
  return typeof credentials === 'function'
}

/** Whether a value is credentials. They never appear in a message. */
export function isPair(credentials: unknown): credentials is S3Credentials {
  const { accessKeyId, secretAccessKey } = (credentials ?? {}) as Partial<S3Credentials>
  return [accessKeyId, secretAccessKey].every((key) => typeof key === 'string' && key !== '')
}
