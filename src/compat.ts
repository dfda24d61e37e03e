// Types alone: `import 'toolwright/compat'` adds what handlers of other libraries read of the context, which is there in any case.
// The export keeps the declarations a module: a file without one would declare all of 'toolwright' anew.
export type { ToolContext } from './index.ts'

declare module 'toolwright' {
  interface ToolContext {
    /** The same object as `values`, under the name that Strands handlers read. */
    readonly invocationState: ToolContext['values']
    /** The call as Strands handlers read it. */
    readonly toolUse: {
      readonly name: string
      readonly toolUseId: string | number | undefined
      readonly input: unknown
    }
  }
}
