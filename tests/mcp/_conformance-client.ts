// An application that uses the tools of the server whose address is its last argument: it calls every tool that it is offered, as
// a model would, and answers what it is asked.
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
  DpopSession,
  PrivateKeyJwtProvider,
  type CrossAppAccessContext,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import { createExecutor, type StandardJSONSchemaV1, type ToolDefinition } from 'toolwright'
import { mcpTools, type McpToolsOptions } from 'toolwright/mcp/client'

const { MCP_CONFORMANCE_CONTEXT = '{}', MCP_CONFORMANCE_PROTOCOL_VERSION } = process.env
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const url = process.argv.at(-1) ?? ''
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT) as {
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
  readonly idp_token_endpoint?: string
  readonly idp_id_token?: string
  readonly idp_client_id?: string
  readonly valid_jwt?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[]
}

const callback = 'http://localhost:3000/callback'
let cameBack: URLSearchParams | undefined
const kept = new Map<string, unknown>()
const registered = { client_id: context.client_id, client_secret: context.client_secret, redirect_uris: [callback] }
if (context.client_id !== undefined) kept.set('client', registered)

/** An account on this machine: what is kept for it lives as long as this process. */
const account: OAuthClientProvider = {
  redirectUrl: callback,
  clientMetadata: { client_name: 'toolwright conformance', redirect_uris: [callback] },
  clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  clientInformation: () => kept.get('client') as never,
  saveClientInformation: (client) => void kept.set('client', client),
  tokens: () => kept.get('tokens') as never,
  saveTokens: (tokens) => void kept.set('tokens', tokens),
  codeVerifier: () => String(kept.get('verifier')),
  saveCodeVerifier: (verifier) => void kept.set('verifier', verifier),
  invalidateCredentials(scope) {
    const names = scope === 'all' ? [...kept.keys()] : [scope]
    for (const name of names) kept.delete(name)
  },
  /** The person says yes at once. */
  async redirectToAuthorization(address) {
    const response = await fetch(address, { redirect: 'manual' })
    cameBack = new URL(response.headers.get('location') ?? callback).searchParams
  },
}

/** Who asks for tokens: a person with an account, a program with a secret or a key, or somebody whom another vouches for. */
function identity(): OAuthClientProvider {
  const { client_id: clientId = '', client_secret: clientSecret = '', private_key_pem: privateKey = '' } = context
  switch (scenario) {
    case 'auth/client-credentials-basic':
      return new ClientCredentialsProvider({ clientId, clientSecret })
    case 'auth/client-credentials-jwt':
      return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm ?? 'ES256' })
    case 'auth/enterprise-managed-authorization':
      return new CrossAppAccessProvider({ clientId, clientSecret, assertion: enterpriseGrant })
    case 'auth/wif-jwt-bearer':
      return workload(clientId)
    case 'auth/dpop':
    case 'auth/dpop-nonce': {
      const session = DpopSession.create()
      return { ...account, dpop: () => session }
    }
    default:
      return account
  }
}

/** The word of an enterprise for one of its people. */
async function enterpriseGrant({
  authorizationServerUrl: audience,
  resourceUrl: resource,
}: CrossAppAccessContext): Promise<string> {
  const { idp_token_endpoint: tokenEndpoint = '', idp_id_token: idToken = '', idp_client_id: clientId = '' } = context
  const grant = await requestJwtAuthorizationGrant({ tokenEndpoint, audience, resource, idToken, clientId })
  return grant.jwtAuthGrant
}

/** A program that shows the token of where it runs. */
function workload(clientId: string): OAuthClientProvider {
  return {
    ...account,
    redirectUrl: undefined,
    clientInformation: () => ({ client_id: clientId }),
    prepareTokenRequest: () =>
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: context.valid_jwt ?? '',
      }),
  }
}

const options: McpToolsOptions = {
  name: 'conformance',
  url,
  protocol: MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28' ? '2026-07-28' : '2025-11-25',
  elicit: () => Promise.resolve({ action: 'accept', content: {} }),
  ...(scenario.startsWith('auth/') && {
    authProvider: identity(),
    authorize: () => Promise.resolve(cameBack ?? new URLSearchParams()),
  }),
}

const samples: Readonly<Record<string, unknown>> = {
  string: 'text',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
}

/** Some args that a tool takes. */
function argsFor(tool: ToolDefinition): Record<string, unknown> {
  if (tool.name === 'json_schema_echo') return { schema: asListed('json_schema_2020_12_tool') }
  const { properties = {}, required = [] } = tool.describe().inputSchema as {
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>
    readonly required?: readonly string[]
  }
  return Object.fromEntries(required.map((name) => [name, samples[properties[name]?.type ?? 'string']]))
}

/** The schema of a tool, as its server wrote it. */
function asListed(name: string): unknown {
  const schema = executor.tools().find((tool) => tool.name === name)?.inputSchema as StandardJSONSchemaV1 | undefined
  return schema?.['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
}

/** A null says that an argument is absent, and the schemas of the tools say no such thing: it is left out. */
function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

const executor = createExecutor({ use: [await mcpTools(options)] })
const calls =
  context.toolCalls?.map(({ name, arguments: args }) => ({ name, args: withoutNulls(args) })) ??
  executor.tools().map((tool) => ({ name: tool.name, args: argsFor(tool) }))
for (const result of await executor.executeToolCalls(calls)) {
  console.log(result.toolName, result.status, result.error?.message ?? JSON.stringify(result.content))
  // Some args that we make up fit no schema: that is for the model to mend.
  if (result.isError && result.error?.code !== 'E_INVALID_TOOL_ARGS') process.exitCode = 1
}
await executor.close()
