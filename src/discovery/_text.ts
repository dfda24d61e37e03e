import { escapeDeceptive } from '../extension.ts'
import type { FoundTool, FoundTools } from './_answer.ts'
import { writtenArgs } from './_args.ts'

const plainGroup = /^[\p{L}\p{N}_.:/-]+$/u

/**
 * Writes an answer as models read it: a tool a line, and what more is told of it on lines that are indented. Only the search
 * begins a line without a space, so that no description passes for that of another tool.
 */
export function foundText({ tools, note, groups }: FoundTools): string {
  const lines = tools.map(toolText)
  if (groups !== undefined) lines.push(`Groups, and how many tools each has: ${JSON.stringify(groups)}`)
  if (note !== undefined) lines.push(`Note: ${note}`)
  return escapeDeceptive(lines.join('\n'), '\n\t')
}

function toolText({ name, group, description, inputSchema }: FoundTool): string {
  const head = `${name}${group === undefined ? '' : ` (group ${plainGroup.test(group) ? group : JSON.stringify(group)})`}`
  const words = description.trim().replace(/\s*\n\s*/g, '\n  ')
  const args = inputSchema === undefined ? '' : `\n  args: ${writtenArgs(inputSchema)}`
  return `${head}: ${words}${args}`
}
