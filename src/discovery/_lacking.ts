import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { SessionTools } from '../extension.ts'

/** Reports the tools of the executor, or of another extension, that have the names of the two. */
export function reportTaken(
  names: Readonly<Record<'search' | 'call', string>>,
  isTaken: SessionTools['isTaken'],
  report: (error: unknown) => void,
): void {
  for (const [option, name] of Object.entries(names)) {
    if (!isTaken(name)) continue
    const advice = `Give \`names: { ${option}: … }\`, or rename that tool`
    report(
      fault(`and another tool have the same name, ${JSON.stringify(name)}, so only one of them is called. ${advice}`),
    )
  }
}

/**
 * Reports the tools that are always to be shown, and that an executor has not. It looks when the tools are there that were added at
 * the same time, and once, since others may come later.
 */
export function reportLacking(
  always: ReadonlySet<string>,
  catalogue: () => readonly ToolDefinition[],
  report: (error: unknown) => void,
): void {
  if (always.size === 0) return
  queueMicrotask(() => {
    try {
      const names = new Set(catalogue().map(({ name }) => name))
      for (const name of always) {
        if (names.has(name)) continue
        report(fault(`shows no ${JSON.stringify(name)}, which \`always\` names: there is no such tool now`))
      }
    } catch (error) {
      report(error)
    }
  })
}

function fault(words: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`toolSearch\` ${words}.`)
}
