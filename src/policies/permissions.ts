/**
 * Permissions by the names of tools. This leaf decides and nothing else: it asks nobody itself, remembers no answer, and
 * never lets a call through that another policy refuses.
 *
 * @module
 */
import type { Decision, Extension, Policy, ToolContext, ToolDefinition, Validated } from '../index.ts'
import { requireOptions, ToolList, wordOf, wrong, type ToolName } from './_options.ts'

export type { ToolName }

/** Let the call through, ask somebody, or refuse it. */
export type Permission = 'auto' | 'ask' | 'deny'

/** Decides about a call that stands in no list. */
export type PermissionFunction = (
  toolName: string,
  call: Validated,
  context: ToolContext,
) => Permission | Promise<Permission>

interface PermissionLists {
  /** Tools whose calls somebody has to approve, unless they stand in one of the other lists. */
  readonly requireApprovalTools?: readonly ToolName[]
  /**
   * Tools about whose calls this policy asks nobody, unless they are denied. They run at once only where nothing else asks:
   * a tool's own `requiresConfirmation` and other policies still do. A name by itself means a tool of the host's own, and
   * `{ server: 'files', name: 'read_file' }` that of a server to which the host gave this name in `mcpTools`.
   */
  readonly autoAllowTools?: readonly ToolName[]
  /** Tools whose calls are refused, whatever else is said of them. */
  readonly autoDenyTools?: readonly ToolName[]
}

/** What becomes of the tools that stand in no list: `mode`, and the function that `mode: 'custom'` asks. */
export type PermissionsOptions = PermissionLists &
  (
    | { readonly mode: Permission; readonly decide?: undefined }
    | { readonly mode: 'custom'; readonly decide: PermissionFunction }
  )

const known = ['mode', 'requireApprovalTools', 'autoAllowTools', 'autoDenyTools', 'decide']
const modes = ['auto', 'ask', 'deny', 'custom'] as const

/**
 * Decides by the name of the tool: `autoDenyTools` before `autoAllowTools` before `requireApprovalTools` before `mode`.
 *
 * It is the tool's own name that counts, by whichever alias it was called. An alias in `autoDenyTools` or
 * `requireApprovalTools` stands for its tool; `autoAllowTools` takes own names alone.
 *
 * @param options `mode` decides about tools that stand in no list; `'custom'` asks `decide`. A `decide` that throws, or gives
 * anything but `'auto'`, `'ask'` and `'deny'`, refuses the call.
 * @throws `E_INVALID_CONFIGURATION` where the mode or an option is unknown, a list is none, or `decide` is missing or idle.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { permissions } from 'toolwright/policies/permissions'
 *
 * const executor = createExecutor({
 *   use: [permissions({ mode: 'ask', autoAllowTools: ['fs_read', 'fs_glob'], autoDenyTools: ['bash_run'] })],
 * })
 * ```
 * @experimental
 */
export function permissions(options: PermissionsOptions): Extension & { readonly policies: readonly [Policy] } {
  requireOptions('permissions', options, known)
  const mode = wordOf('permissions', 'mode', options.mode, modes)
  const denied = new ToolList('permissions', 'autoDenyTools', options.autoDenyTools)
  const allowed = new ToolList('permissions', 'autoAllowTools', options.autoAllowTools)
  const asked = new ToolList('permissions', 'requireApprovalTools', options.requireApprovalTools)
  const custom = functionOf(mode, options.decide)

  return {
    policies: [
      {
        name: 'permissions',
        decide(call, context) {
          const { tool } = call
          if (denied.includes(tool)) return decisionOf('deny')
          if (allowed.means(tool)) return decisionOf('auto')
          if (asked.includes(tool)) return decisionOf('ask')
          if (mode !== 'custom') return decisionOf(mode, allowed.hasName(tool) ? notMeant(tool) : '')
          const said = custom(tool.name, call, context)
          return typeof said === 'string'
            ? decisionOf(said)
            : Promise.resolve(said).then((settled) => decisionOf(settled))
        },
      },
    ],
  }
}

function functionOf(mode: string, decide: PermissionFunction | undefined): PermissionFunction {
  if (mode === 'custom') {
    if (typeof decide === 'function') return decide
    throw wrong('permissions', 'needs the function `decide` where `mode` is "custom"')
  }
  if (decide === undefined) return () => 'deny'
  throw wrong('permissions', `asks \`decide\` only where \`mode\` is "custom", and it is "${mode}"`)
}

/** Why a name in `autoAllowTools` does not allow a server's tool, and what to write instead. */
function notMeant({ mcpConfig }: ToolDefinition): string {
  const { serverName: server, toolName: name } = mcpConfig ?? {}
  return `; \`autoAllowTools\` means this tool only by ${JSON.stringify({ server, name })}, with \`server\` as its \`name\` in \`mcpTools\``
}

function decisionOf(permission: Permission, hint = ''): Decision {
  switch (permission) {
    case 'auto':
      return undefined
    case 'ask':
      return { decision: 'ask', reason: `Approval required by policy${hint}` }
    case 'deny':
      return { decision: 'deny', reason: `Permission denied by policy${hint}` }
    default:
      throw new TypeError('`decide` gives "auto", "ask" or "deny"')
  }
}
