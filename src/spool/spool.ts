import type { SpooledArtifact } from '../kernel/result/artifact.ts'
import type { SpoolOptions, Spool } from '../kernel/kernel.ts'
import { memoryStore } from './memory.ts'
import { ArtifactShelf } from './shelf.ts'
import { keep, keepBeside } from './store.ts'

/** Makes the spool of an executor. A store in memory is made if no extension brings one. */
export function openSpool(options: SpoolOptions): Spool {
  const { store = memoryStore(), extensions, inlineLimit, loadOnDemand, report } = options
  const shelf = new ArtifactShelf(store)
  const keeping = { shelf, inlineLimit, guide }
  return {
    store,
    shelf,
    keep: (output, call) => keep(output, call, keeping),
    keepBeside: (source, described, call) => keepBeside(source, described, call, keeping),
    remember(artifact, handle, call) {
      try {
        shelf.remember(artifact, handle, call)
      } catch (error) {
        report(error) // its class is another's
      }
    },
    openArtifacts: async (input, call) => (await loadOnDemand()).openArtifacts(input, call, keeping),
  }

  /** Returns the extensions' advice on how to read on in an artifact. */
  function guide(artifact: SpooledArtifact): string {
    try {
      return extensions.flatMap((extension) => extension.guide?.(artifact) ?? []).join(' ')
    } catch (error) {
      report(error)
      return ''
    }
  }
}
