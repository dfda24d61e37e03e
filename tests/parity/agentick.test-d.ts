import { tool } from 'toolwright'
import type { LibraryToolOptions, ProviderToolOptions } from 'toolwright'
import type { McpConfig, ToolUi } from 'toolwright/extension'
import { expectTypeOf, it } from 'vitest'

declare module 'toolwright' {
  interface LibraryToolOptions {
    readonly 'parity-library'?: { readonly returnDirect: boolean }
  }
  interface ProviderToolOptions {
    readonly 'parity-provider'?: { readonly strict: boolean }
  }
  interface ToolTypes {
    readonly 'parity-robot': true
  }
}

it('AGK-10 a library’s adapter adds the types of its options, and they are checked where a tool is made', () => {
  expectTypeOf<LibraryToolOptions['parity-library']>().toEqualTypeOf<{ readonly returnDirect: boolean } | undefined>()
  const config = { name: 'a', description: 'a', handler: () => 1 }
  tool({ ...config, libraryOptions: { 'parity-library': { returnDirect: true }, other: { free: 1 } } })
  // @ts-expect-error -- not what the adapter's types say
  tool({ ...config, libraryOptions: { 'parity-library': { returnDirect: 'yes' } } })
})

it('AGK-11 mcpConfig takes further keys', () => {
  expectTypeOf<{ serverName: string; region: { name: string } }>().toExtend<McpConfig>()
  expectTypeOf<{ serverName: number }>().not.toExtend<McpConfig>()
})

it('AGK-13 the transport may be any of the four, or HTTP', () => {
  expectTypeOf<NonNullable<McpConfig['transport']>>().toEqualTypeOf<
    'websocket' | 'sse' | 'stdio' | 'in-process' | 'http'
  >()
})

it('AGK-14 a provider’s adapter adds the types of its options, and they are checked where a tool is made', () => {
  expectTypeOf<ProviderToolOptions['parity-provider']>().toEqualTypeOf<{ readonly strict: boolean } | undefined>()
  const config = { name: 'a', description: 'a', handler: () => 1 }
  tool({ ...config, providerOptions: { 'parity-provider': { strict: true }, openai: { strict: true } } })
  // @ts-expect-error -- not what the adapter's types say
  tool({ ...config, providerOptions: { 'parity-provider': { strict: 'yes' } } })
})

it('AGK-17 a host adds an execution type of its own, which needs no handler here', () => {
  tool({ name: 'a', description: 'a', type: 'parity-robot' })
  // @ts-expect-error -- a tool of ours has a handler
  tool({ name: 'a', description: 'a', type: 'server' })
  // @ts-expect-error -- so has one that says nothing of its type
  tool({ name: 'a', description: 'a' })
})

it('AGK-22 visibility is a list of model and app', () => {
  expectTypeOf<ToolUi['visibility']>().toEqualTypeOf<readonly ('model' | 'app')[] | undefined>()
})
