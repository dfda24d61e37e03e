import { escapeDeceptive } from '../extension.ts'
import type { FoundTool, CatalogueAnswer } from './_answer.ts'
import { writtenArgs } from './_args.ts'

const plainGroup = /^[\p{L}\p{N}_.:/-]+$/u

/**
 * Writes an answer as models read it: a tool a line, and what more is told of it on lines that are indented. Only the search
 * begins a line without a space, so that no description passes for that of another tool.
 */
export function foundText({ found: { tools, note, groups }, schemaTexts }: CatalogueAnswer): string {
  const lines = tools.map((each) => toolText(each, schemaTexts.get(each.name)))
  if (groups !== undefined) lines.push(`Groups, and how many tools each has: ${JSON.stringify(groups)}`)
  if (note !== undefined) lines.push(`Note: ${note}`)
  return escapeDeceptive(lines.join('\n'), '\n\t')
}

function toolText({ name, group, description, inputSchema }: FoundTool, schemaText: string | undefined): string {
  const words = description.trim().replace(/\s*\n\s*/g, '\n  ')
  const args =
    inputSchema === undefined || schemaText === undefined ? '' : `\n  args: ${writtenArgs(inputSchema, schemaText)}`
  return `${name}${groupText(name, group)}: ${words}${args}`
}

/** Tells the group of a tool, unless its name begins with it. */
function groupText(name: string, group: string | undefined): string {
  if (group === undefined || (name.startsWith(group) && /^[^\p{L}\p{N}]/u.test(name.slice(group.length)))) return ''
  return ` (group ${plainGroup.test(group) ? group : JSON.stringify(group)})`
}
