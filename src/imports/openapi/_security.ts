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
  resolvedOrNone,
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
  return textMember(resolvedOrNone(root, scheme), 'type') === 'mutualTLS'
}

/** Returns the alternatives of an operation: each has the names of its schemes, with their scopes. */
export function alternativesOf(root: DocumentNode, operation: DocumentNode): readonly DocumentNode[] {
  const own = memberOf(operation, 'security') ?? memberOf(root, 'security')
  return Array.isArray(own) ? own.filter(isNode) : []
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
  const alternatives = alternativesOf(root, operation)
  if (alternatives.length === 0) return []
  const schemes = memberOf(memberOf(root, 'components'), 'securitySchemes')
  const isOfTransport = (name: string): boolean => isCertificate(root, memberOf(schemes, name))
  const isLacking = (name: string): boolean => (isOfTransport(name) ? !hasFetch : !Object.hasOwn(auth, name))
  const chosen = alternatives.find((each) => !Object.keys(each).some(isLacking))
  if (chosen === undefined) throw new OperationFault(lackWords(alternatives.map(Object.keys)))
  return Object.keys(chosen).flatMap((name) => {
    if (isOfTransport(name)) return []
    const scheme = resolved(root, memberOf(schemes, name))
    const scopes = listMember(chosen, name).filter((scope) => typeof scope === 'string')
    return { ...place, scheme: name, scopes, options: credentialOptions(auth[name]!), ...carrierOf(name, scheme) }
  })

  function lackWords(names: readonly (readonly string[])[]): string {
    const isUndefined = (name: string): boolean => !isNode(memberOf(schemes, name))
    const lacking = names.filter((each) => !each.some(isUndefined)).map((each) => each.filter(isLacking))
    if (lacking.length === 0) {
      const stranger = quotedFromDocument(names.flat().find(isUndefined))
      return `it needs the security scheme ${stranger}, which the document does not define`
    }
    const quoted = (name: string): string => quotedFromDocument(name) + (isOfTransport(name) ? certificateAdvice : '')
    const words = new Set(lacking.map((each) => each.map(quoted).join(' and ')))
    const advice = lacking.flat().every(isOfTransport) ? '' : ': give it in `auth`'
    return `it needs the credential ${[...words].slice(0, 5).join(', or ')}${advice}`
  }
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
