import { credentialOptions } from '../_minting.ts'
import type { CredentialOptions, CredentialPurpose, CredentialSource, Mint } from '../_minting.ts'
import {
  entriesOf,
  isNode,
  listMember,
  memberOf,
  OperationFault,
  quotedFromDocument,
  resolved,
  textMember,
} from './_document.ts'
import type { ApiDocument, DocumentNode } from './_document.ts'

/** How a credential is sent. */
type Carrier = 'bearer' | 'basic' | 'header' | 'query' | 'cookie'

/** A security scheme that an operation is sent with. */
export interface PlannedScheme extends CredentialPurpose {
  readonly carrier: Carrier
  /** The name of the header, the query or the cookie. */
  readonly parameter: string
  readonly options: CredentialOptions
}

type AuthOption = Readonly<Record<string, CredentialSource | Mint>>

/** Returns the names of the security schemes of a document that take a credential. */
export function schemeNames({ root }: ApiDocument): string[] {
  const schemes = entriesOf(memberOf(root, 'components'), 'securitySchemes')
  return schemes.flatMap(([name, scheme]) => (isCertificate(root, scheme) ? [] : name))
}

const certificateAdvice = ' (a certificate: give a `fetch` that has it)'

/** Whether a security scheme is a certificate of the connection, which `fetch` brings. */
function isCertificate(root: DocumentNode, scheme: unknown): boolean {
  try {
    return textMember(resolved(root, scheme), 'type') === 'mutualTLS'
  } catch {
    return false
  }
}

/** Returns the names of the schemes of each alternative of an operation. */
export function alternativesOf(root: DocumentNode, operation: DocumentNode): readonly (readonly string[])[] {
  const own = memberOf(operation, 'security') ?? memberOf(root, 'security')
  return Array.isArray(own) ? own.map((each) => (isNode(each) ? Object.keys(each) : [])) : []
}

/**
 * Returns the schemes of the first alternative that the application has credentials for.
 *
 * @throws {OperationFault} if there is none.
 */
export function plannedSchemes(
  { root }: ApiDocument,
  operation: DocumentNode,
  auth: AuthOption,
  hasFetch: boolean,
  place: Pick<CredentialPurpose, 'host' | 'operation'>,
): readonly PlannedScheme[] {
  const own = memberOf(operation, 'security') ?? memberOf(root, 'security')
  const alternatives = Array.isArray(own) ? own.filter(isNode) : []
  if (alternatives.length === 0) return []
  const schemes = memberOf(memberOf(root, 'components'), 'securitySchemes')
  const isOfTransport = (name: string): boolean => isCertificate(root, memberOf(schemes, name))
  const isLacking = (name: string): boolean => (isOfTransport(name) ? !hasFetch : !Object.hasOwn(auth, name))
  const chosen = alternatives.find((each) => !Object.keys(each).some(isLacking))
  if (chosen === undefined) {
    const complete = alternatives.filter((each) => Object.keys(each).every((name) => isNode(memberOf(schemes, name))))
    if (complete.length === 0) {
      const stranger = alternatives
        .flatMap((each) => Object.keys(each))
        .find((name) => !isNode(memberOf(schemes, name)))
      throw new OperationFault(
        `it needs the security scheme ${quotedFromDocument(stranger)}, which the document does not define`,
      )
    }
    const lacking = complete.map((each) => Object.keys(each).filter(isLacking))
    const words = lacking.map((names) =>
      names.map((name) => quotedFromDocument(name) + (isOfTransport(name) ? certificateAdvice : '')).join(' and '),
    )
    const advice = lacking.flat().every(isOfTransport) ? '' : ': give it in `auth`'
    throw new OperationFault(`it needs the credential ${[...new Set(words)].slice(0, 5).join(', or ')}${advice}`)
  }
  return Object.keys(chosen).flatMap((name) => {
    if (isOfTransport(name)) return []
    const scheme = resolved(root, memberOf(schemes, name))
    const scopes = listMember(chosen, name).filter((scope) => typeof scope === 'string')
    return { ...place, scheme: name, scopes, options: credentialOptions(auth[name]!), ...carrierOf(name, scheme) }
  })
}

function carrierOf(name: string, scheme: unknown): { readonly carrier: Carrier; readonly parameter: string } {
  const [type, kind, place, parameter = ''] = ['type', 'scheme', 'in', 'name'].map((key) => textMember(scheme, key))
  if (type === 'oauth2' || type === 'openIdConnect') return { carrier: 'bearer', parameter: 'authorization' }
  if (type === 'http' && kind?.toLowerCase() === 'bearer') return { carrier: 'bearer', parameter: 'authorization' }
  if (type === 'http' && kind?.toLowerCase() === 'basic') return { carrier: 'basic', parameter: 'authorization' }
  if (type === 'apiKey' && parameter !== '' && (place === 'header' || place === 'query' || place === 'cookie')) {
    return { carrier: place, parameter }
  }
  throw new OperationFault(`its security scheme ${quotedFromDocument(name)} is of a kind that is not known here`)
}
