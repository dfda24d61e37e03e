import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { hostConfig } from '../../src/react/root/_host.ts'

const folder = dirname(createRequire(import.meta.url).resolve('react-reconciler/package.json'))
const host = hostConfig()

/** The members that `null` is an answer to: "there is none", "no", or nothing at all. */
const silent = `appendInitialChild appendChild appendChildToContainer insertBefore insertInContainerBefore removeChild
removeChildFromContainer clearContainer resetTextContent commitMount commitUpdate commitTextUpdate hideInstance unhideInstance
hideTextInstance unhideTextInstance resetAfterCommit preparePortalMount beforeActiveInstanceBlur afterActiveInstanceBlur
prepareScopeUpdate detachDeletedInstance resetFormInstance requestPostPaintCallback trackSchedulerEvent startSuspendingCommit
suspendInstance suspendOnActiveViewTransition stopViewTransition addViewTransitionFinishedListener createViewTransitionInstance
applyViewTransitionName restoreViewTransitionName cancelViewTransitionName cancelRootViewTransitionName
restoreRootViewTransitionName removeRootViewTransitionClone updateFragmentInstanceFiber commitNewChildToFragmentInstance
deleteChildFromFragmentInstance prepareForCommit getInstanceFromNode getInstanceFromScope resolveEventType
getSuspendedCommitReason waitForCommitToBeReady finalizeInitialChildren shouldSetTextContent maySuspendCommit
maySuspendCommitOnUpdate maySuspendCommitInSyncRender shouldAttemptEagerTransition warnsIfNotActing`.split(/\s+/)

/** What React asks only renderers that support it, or that have nodes which it could ask about. */
const unused: Readonly<Record<string, RegExp>> = {
  'hydration, which `supportsHydration` turns off':
    /[Hh]ydrat|^registerSuspenseInstanceRetry$|^isSuspenseInstance|^getSuspenseInstanceFallback|^clear(?:Suspense|Activity)Boundary|FormStateMarker/,
  'persistence, which `supportsPersistence` turns off':
    /ChildSet$|^clone|^finalizeContainerChildren$|^replaceContainerChildren$/,
  'resources and singletons, which are turned off too': /Resource|Hoistable|[Ss]ingleton/,
  'test selectors, which are turned off too':
    /^(?:findFiberRoot|getBoundingRect|getTextContent|isHiddenSubtree|matchAccessibilityRole|setFocusIfFocusable|setupIntersectionObserver)$/,
  'nodes of a view, which a tree of tools has none of': /^(?:measure|has|wasInstance)/,
  'gestures, which no event of ours starts': /Gesture/,
  'words of a server component, which React replays in a console': /^bindToConsole$/,
}

it.each(['development', 'production'])(
  'the host knows each member that the installed reconciler reads (%s)',
  (mode) => {
    const code = readFileSync(join(folder, 'cjs', `react-reconciler.${mode}.js`), 'utf8')
    const read = new Set(Array.from(code.matchAll(/\$\$\$config\.(\w+)/g), ([, name = '']) => name))
    expect(read.size).toBeGreaterThan(100)
    const isKnown = (name: string): boolean =>
      name in host ||
      name.startsWith('supports') ||
      silent.includes(name) ||
      Object.values(unused).some((names) => names.test(name))
    expect([...read].filter((name) => !isKnown(name))).toEqual([])
  },
)

it('the host supports mutation and microtasks, and nothing else', () => {
  const features = ['Mutation', 'Persistence', 'Hydration', 'Microtasks', 'Resources', 'Singletons', 'TestSelectors']
  const supported = features.filter((feature) => host[`supports${feature}`])
  expect(supported).toEqual(['Mutation', 'Microtasks'])
  expect(silent.map((name) => (host[name] as () => unknown)())).toEqual(silent.map(() => null))
})
