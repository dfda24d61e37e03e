import type { ToolContext } from '../index.ts'

/** For what a credential is needed. */
export interface CredentialRequest {
  /** The name of the security scheme, or of the credential. */
  readonly scheme: string
  readonly scopes: readonly string[]
  /** Where it will be sent, such as `api.example.com`. Empty if a handler of yours asks. */
  readonly host: string
  /** Such as `GET /pets/{id}`, or the name of the tool if a handler of yours asks. */
  readonly operation: string
  readonly session: string
  readonly principal: string | undefined
  readonly invocationId: string
  readonly attempt: number
  /** Whether the API has refused the last one: make a new one. */
  readonly rejected: boolean
  /** Aborts at the deadline of the call, and when its caller cancels. */
  readonly signal: AbortSignal
}

/** What a credential is for, whichever call needs it. */
export type CredentialPurpose = Pick<CredentialRequest, 'scheme' | 'scopes' | 'host' | 'operation'>

/** A token, or a password with its user. */
export type Minted = string | { readonly value: string; readonly username?: string }

/** Makes a credential. It may throw a `ToolFailure`, whose words the model reads; the words of other errors stay here. */
export type Mint<Made extends Minted = Minted> = (request: CredentialRequest) => Made | Promise<Made>

/** What a person has to do before there is a credential. */
export interface Consent {
  /** An address that begins with `https:`, which only the person is shown. */
  readonly url: string
  /** What the person is told. */
  readonly message: string
}

/** The options of `credential`: how it is made, and what a person has to do first. */
export interface CredentialOptions {
  readonly mint: Mint
  /** Returns what a person has to do first, such as to connect an account. The call then waits. Default: nothing. */
  readonly ready?: (request: CredentialRequest) => Consent | undefined | Promise<Consent | undefined>
  /** Is told that the API has refused a new credential too. Default: nothing. */
  readonly revoked?: (request: CredentialRequest) => void
}

export const credentialKey: unique symbol = Symbol.for('toolwright.credential') as never

/** What `credential` makes, as `auth` of `openapiTools` takes it. */
export interface CredentialSource {
  readonly [credentialKey]: CredentialOptions
}

/** A credential, for `auth` of `openapiTools`, and for handlers of your own: `await github(context)` is its value. */
export interface Credential extends CredentialSource {
  (context: ToolContext): Promise<string>
}

/** Returns how a credential of `auth` is made: it is one, or only its `mint`. */
export function credentialOptions(auth: CredentialSource | Mint): CredentialOptions {
  return (auth as Partial<CredentialSource>)[credentialKey] ?? { mint: auth as Mint }
}
