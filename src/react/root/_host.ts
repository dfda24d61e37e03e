import { createContext } from 'react'
import createReconciler from 'react-reconciler'
import { ConcurrentRoot, DiscreteEventPriority, NoEventPriority } from 'react-reconciler/constants.js'
import { InvalidConfigurationError } from '../../errors.ts'

type Reconciler = ReturnType<typeof createReconciler>
export type Container = ReturnType<Reconciler['createContainer']>

/** What React needs an answer to. A tree of tools has no nodes, no view and no events: for all else, `null` will do. */
function hostAnswers(): Readonly<Record<string, unknown>> {
  let priority = NoEventPriority
  return {
    rendererPackageName: 'toolwright/react/root',
    rendererVersion: '1',
    extraDevToolsConfig: null,
    isPrimaryRenderer: false,
    supportsMutation: true,
    supportsMicrotasks: true,
    scheduleMicrotask: queueMicrotask,
    noTimeout: -1,
    // React holds contents back for 300 ms after a fallback, so that a view does not flicker. Tools have no view.
    scheduleTimeout: (work: () => void) => setTimeout(work),
    cancelTimeout: clearTimeout,
    NotPendingTransition: null,
    HostTransitionContext: createContext(null),
    createInstance(type: string): never {
      throw new InvalidConfigurationError(
        `<${type}> is no tool. A tool root renders components that use tools, such as <Tool name="…" handler={…} />.`,
      )
    },
    createTextInstance: () => ({}), // text between tools is ignored
    createFragmentInstance: () => ({}),
    getRootHostContext: () => ({}),
    getChildHostContext: (context: unknown) => context,
    getPublicInstance: (instance: unknown) => instance,
    preloadInstance: () => true,
    resolveEventTimeStamp: () => -1.1,
    setCurrentUpdatePriority: (next: number) => void (priority = next),
    getCurrentUpdatePriority: () => priority,
    // There are no events to tell urgent updates from others. All but transitions commit at once, or in the next microtask.
    resolveUpdatePriority: () => DiscreteEventPriority,
    startViewTransition(...[, , , mutate, layout, , spawn]: (() => void)[]) {
      mutate?.()
      layout?.()
      spawn?.()
      return null
    },
  }
}

/** Makes the part that React leaves to each renderer. React reads each of its members once. */
export function hostConfig(): Readonly<Record<string, unknown>> {
  const none = (): null => null
  return new Proxy(hostAnswers(), {
    get: (own, name: string) => (name in own ? own[name] : name.startsWith('supports') ? false : none),
  })
}

let reconciler: Reconciler | undefined

/** Makes a root. `uncaught` gets the errors that end it, `report` the others. */
export function createContainer(uncaught: (error: unknown) => void, report: (error: unknown) => void): Container {
  reconciler ??= createReconciler(hostConfig() as unknown as Parameters<typeof createReconciler>[0])
  return reconciler.createContainer({}, ConcurrentRoot, null, false, null, '', uncaught, report, report, () => {}, null)
}

/** Renders an element, or `null` for nothing, and commits it with its effects. */
export function update(container: Container, element: Parameters<Reconciler['updateContainerSync']>[0]): void {
  reconciler?.updateContainerSync(element, container, null, null)
  flush()
}

/** Commits all updates that wait, and their effects. Does nothing while React renders. */
export function flush(): void {
  const react = reconciler
  if (react === undefined) return
  // `flushSyncWork` tells whether it could not be done.
  while (!react.flushSyncWork() && react.flushPassiveEffects()) continue
}
