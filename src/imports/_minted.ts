import { ToolFailure, type ToolContext } from '../index.ts'
import type { CredentialPurpose, CredentialRequest, Mint, Minted } from './_minting.ts'

/** Returns for what a call needs a credential. */
export function credentialRequest(
  { scheme, scopes, host, operation }: CredentialPurpose,
  { session, principal, invocationId, attempt, signal }: ToolContext,
  rejected: boolean,
): CredentialRequest {
  return { scheme, scopes, host, operation, session, principal, invocationId, attempt, rejected, signal }
}

/** The least that is masked safely in answers: fewer characters occur by chance. */
const shortestCredential = 8

/** Makes a credential for a request. The caller waits for it or the abort. @throws `ToolFailure` of the category `auth`: nothing has been sent. */
export async function mintedFor(mint: Mint, request: CredentialRequest): Promise<Minted> {
  const name = JSON.stringify(request.scheme)
  let minted: unknown
  try {
    minted = await mint(request)
  } catch (thrown) {
    if (request.signal.aborted) throw request.signal.reason
    // No cause: what a store of tokens throws may name them.
    throw thrown instanceof ToolFailure
      ? new ToolFailure(thrown.message, { recommendations: thrown.recommendations, category: 'auth', effect: 'none' })
      : refusedCredential(`The credential ${name} was refused.`)
  }
  const value = typeof minted === 'string' ? minted : (minted as { readonly value?: unknown } | null | undefined)?.value
  if (value === undefined || value === null || value === '') throw refusedCredential(`There is no credential ${name}.`)
  if (typeof value !== 'string' || value.length < shortestCredential) {
    throw refusedCredential(
      `The credential ${name} is no text of at least ${shortestCredential} characters: the application has to correct it.`,
    )
  }
  // oxlint-disable-next-line eslint/no-control-regex -- these end a header
  if (/[\0\r\n]/.test(value))
    throw refusedCredential(`The credential ${name} has an end of a line: the application has to correct it.`)
  return minted as Minted
}

function refusedCredential(words: string): ToolFailure {
  return new ToolFailure(words, { category: 'auth', effect: 'none' })
}

export function valueOfMinted(minted: Minted): string {
  return typeof minted === 'string' ? minted : minted.value
}

/** Waits for work or its abort, whichever comes first. @param end Ends what the work waits for, if it ignores the signal. */
export function beforeAbort<Value>(work: Promise<Value>, signal: AbortSignal, end?: () => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
      end?.()
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => {
        signal.removeEventListener('abort', abort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    )
  })
}
