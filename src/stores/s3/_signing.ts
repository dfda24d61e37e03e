import { AwsV4Signer } from 'aws4fetch'
import type { S3Credentials } from './_options.ts'

/** A request to sign. */
export interface Unsigned {
  readonly method: string
  readonly url: string
  /** The headers, all of which are signed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The SHA-256 of the body, in hex. */
  readonly bodyHash: string
}

/**
 * Signs a request.
 *
 * @param time As `20130524T000000Z`. Default: now.
 * @returns The headers to send.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export async function signedHeaders(
  { method, url, headers, bodyHash }: Unsigned,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  region: string,
  time?: string,
): Promise<Headers> {
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers, 'x-amz-content-sha256': bodyHash },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? undefined : { sessionToken }),
    ...(time === undefined ? undefined : { datetime: time }),
    region,
    service: 's3',
    allHeaders: true,
  })
  return (await signer.sign()).headers
}
