import type { Tool, ToolContext } from 'toolwright'
import { cached, credential, type Credential, type CredentialRequest, type Mint } from 'toolwright/imports/credentials'
import { openapiTools, type OpenApiTools, type Operation } from 'toolwright/imports/openapi'
import { expectTypeOf, test } from 'vitest'

test('the tools of a document are an extension', () => {
  expectTypeOf(openapiTools('')).resolves.toEqualTypeOf<OpenApiTools>()
  expectTypeOf<OpenApiTools['tools']>().returns.toEqualTypeOf<readonly Tool[]>()
})

test('functions of the options know what they get', () => {
  void openapiTools(
    {},
    {
      auth: {
        plain: (request) => {
          expectTypeOf(request).toEqualTypeOf<CredentialRequest>()
          return 'token'
        },
        made: credential('made', { mint: async ({ principal }) => ({ value: String(principal), username: 'ada' }) }),
      },
      only: (operation) => {
        expectTypeOf(operation).toEqualTypeOf<Operation>()
        return operation.deprecated
      },
      failed: ({ status, headers, body }) => {
        expectTypeOf(status).toEqualTypeOf<number>()
        expectTypeOf(headers).toEqualTypeOf<Headers>()
        expectTypeOf(body).toEqualTypeOf<unknown>()
        return undefined
      },
      tools: { run: { requiresConfirmation: true, traits: { readonly: true }, mediaType: 'text/csv' } },
    },
  )
  // @ts-expect-error the document gives the name
  void openapiTools({}, { tools: { run: { name: 'x' } } })
  // @ts-expect-error the document gives the schema
  void openapiTools({}, { tools: { run: { inputSchema: {} } } })
  // @ts-expect-error a credential is made for each call
  void openapiTools({}, { auth: { token: 'constant' } })
})

test('a credential is a function of a handler’s context, and what is cached keeps its type', () => {
  const mint = cached(async () => ({ value: 'token', expires: 7 }), {
    until: (minted) => {
      expectTypeOf(minted).toEqualTypeOf<{ value: string; expires: number }>()
      return minted.expires
    },
  })
  expectTypeOf(mint).toExtend<Mint>()
  expectTypeOf(credential('x', { mint })).toEqualTypeOf<Credential>()
  expectTypeOf<Credential>().parameter(0).toEqualTypeOf<ToolContext>()
  expectTypeOf<Credential>().returns.resolves.toEqualTypeOf<string>()
})
