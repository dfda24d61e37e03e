/**
 * Permissions by the names of tools. This file only decides: it asks no approver itself, remembers no answer, and never
 * allows a call that another policy denies.
 *
 * @module
 */
import type { Extension, ToolContext, ToolDefinition } from '../index.ts'
import {
  checkOptions,
  functionOption,
  oneOf,
  optionsError,
  required,
  type Decision,
  type Policy,
  type Validated,
} from '../extension.ts'
import { plainNames, ToolList, toolNames, type ToolName } from './_options.ts'

export type { ToolName }

/** Allow the call, ask the approver, or deny it. */
export type Permission = 'auto' | 'ask' | 'deny'

/** Decides on a call of a tool that is in no list. */
export type PermissionFunction = (
  toolName: string,
  call: Validated,
  context: ToolContext,
) => Permission | Promise<Permission>

interface PermissionLists {
  /** Tools whose calls need approval, unless another list has them. */
  readonly requireApprovalTools?: readonly ToolName[]
  /**
   * Tools that this policy allows, unless `autoDenyTools` has them. The tool's own `requiresConfirmation` and other policies may
   * still ask. A plain name means a tool of the application's own; `{ server: 'files', name: 'read_file' }` means the tool of the
   * server that the application named `files` in `mcpTools`.
   */
  readonly autoAllowTools?: readonly ToolName[]
  /** Tools whose calls are denied, even if another list has them. */
  readonly autoDenyTools?: readonly ToolName[]
}

/** The lists; `mode` decides on tools in no list, and `mode: 'custom'` calls `decide`. */
export type PermissionsOptions = PermissionLists &
  (
    | { readonly mode: Permission; readonly decide?: undefined }
    | { readonly mode: 'custom'; readonly decide: PermissionFunction }
  )

/**
 * Decides by the name of the tool: `autoDenyTools` before `autoAllowTools` before `requireApprovalTools` before `mode`.
 *
 * The tool's own name counts, even if the caller used an alias. An alias in `autoDenyTools` or `requireApprovalTools` stands
 * for its tool; `autoAllowTools` takes no aliases.
 *
 * @param options `mode` decides on tools in no list; `'custom'` calls `decide`. If `decide` throws, or returns anything but
 * `'auto'`, `'ask'` and `'deny'`, the call is denied.
 * @throws `E_INVALID_CONFIGURATION` if the mode or an option is unknown, a list is not an array of tool names, `decide` is
 * missing for `'custom'`, or is given with another mode.
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
  checkOptions('permissions', options, {
    mode: required(oneOf('auto', 'ask', 'deny', 'custom')),
    requireApprovalTools: toolNames,
    autoAllowTools: toolNames,
    autoDenyTools: toolNames,
    decide: functionOption,
  })
  const { mode } = options
  const denied = new ToolList(options.autoDenyTools)
  const allowed = new ToolList(options.autoAllowTools)
  const approvalList = new ToolList(options.requireApprovalTools)
  const custom = functionOf(mode, options.decide)

  return {
    policies: [
      {
        name: 'permissions',
        names: plainNames(options.autoDenyTools, options.autoAllowTools, options.requireApprovalTools),
        decide(call, context) {
          const { tool } = call
          if (denied.includes(tool)) return decisionOf('deny')
          if (allowed.means(tool)) return decisionOf('auto')
          if (approvalList.includes(tool)) return decisionOf('ask')
          if (mode !== 'custom') return decisionOf(mode, allowed.hasName(tool) ? notMeant(tool) : '')
          const verdict = custom(tool.name, call, context)
          return typeof verdict === 'string'
            ? decisionOf(verdict)
            : Promise.resolve(verdict).then((settled) => decisionOf(settled))
        },
      },
    ],
  }
}

function functionOf(mode: string, decide: PermissionFunction | undefined): PermissionFunction {
  if (mode === 'custom') {
    if (decide !== undefined) return decide
    throw optionsError('permissions', 'needs the function `decide` if `mode` is "custom"')
  }
  if (decide === undefined) return () => 'deny'
  throw optionsError('permissions', `takes \`decide\` only if \`mode\` is "custom"; it is "${mode}"`)
}

/** Says how to allow a server's tool whose plain name is in `autoAllowTools`. */
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
