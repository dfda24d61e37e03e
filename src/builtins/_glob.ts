import { compiledPattern } from './_engine.ts'
import { refusal } from './_words.ts'

/** Says whether a path matches. */
export type PathTest = (path: string) => boolean

const longestGlob = 1_000
const deepestBraces = 8

/**
 * Compiles a glob: `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\` before a character that is meant itself. Names that
 * begin with a dot match as others do. The time of a match is linear, whatever the glob.
 *
 * @param atAnyDepth Whether a glob without a slash matches at any depth.
 * @throws `ToolFailure` if it is too long, absolute, or has `..`.
 */
export async function globTest(glob: string, atAnyDepth = false): Promise<PathTest> {
  requireGlob(glob)
  const relative = glob.replace(/^(?:\.\/+)+/, '')
  const machine = await compiledPattern(
    globPattern(atAnyDepth && !relative.includes('/') ? `**/${relative}` : relative),
  )
  return (path) => machine.testExact(path)
}

function requireGlob(glob: string): void {
  if (glob === '') throw refusal('A glob is a text that is not empty.')
  if (glob.length > longestGlob) throw refusal(`A glob has at most ${longestGlob} characters.`)
  if (glob.startsWith('/')) throw refusal('A glob is relative: give the directory as `path`.')
  if (glob.split('/').includes('..')) throw refusal('A glob has no "..": give the directory as `path`.')
}

/** Translates a glob to the syntax of RE2. */
export function globPattern(glob: string, hasBraces = true): string {
  let source = ''
  let braces = 0
  for (let index = 0; index < glob.length; index++) {
    const character = glob.charAt(index)
    if (character === '*') {
      const stars = /^\*+/.exec(glob.slice(index))?.[0].length ?? 1
      const isSegment =
        (index === 0 || /[/{,]/.test(glob.charAt(index - 1))) && /^(?:[/,}]|$)/.test(glob.slice(index + stars))
      const isDeep = stars > 1 && isSegment
      const hasSlash = glob.charAt(index + stars) === '/'
      source += isDeep ? (hasSlash ? '(?:[^/]*/)*' : '.*') : '[^/]*'
      index += stars - 1 + (isDeep && hasSlash ? 1 : 0)
    } else if (character === '?') source += '[^/]'
    else if (character === '[') {
      const set = setOf(glob, index)
      source += set.source
      index = set.end
    } else if (hasBraces && character === '{' && closes(glob, index)) {
      if (++braces > deepestBraces) throw refusal(`A glob has at most ${deepestBraces} braces in one another.`)
      source += '(?:'
    } else if (braces > 0 && character === ',') source += '|'
    else if (braces > 0 && character === '}') {
      braces--
      source += ')'
    } else if (character === '\\' && index + 1 < glob.length) source += literal(glob.charAt(++index))
    else source += literal(character)
  }
  return `(?s)${source}`
}

/** Whether a brace has its end and a comma: any other brace is meant itself. */
function closes(glob: string, start: number): boolean {
  let depth = 0
  let hasComma = false
  for (let index = start; index < glob.length; index++) {
    const character = glob.charAt(index)
    if (character === '\\') index++
    else if (character === '{') depth++
    else if (character === ',' && depth === 1) hasComma = true
    else if (character === '}' && --depth === 0) return hasComma
  }
  return false
}

function setOf(glob: string, start: number): { readonly source: string; readonly end: number } {
  const isNegated = /[!^]/.test(glob.charAt(start + 1))
  const from = start + (isNegated ? 2 : 1)
  const end = glob.indexOf(']', from + 1)
  if (end < 0 || glob.slice(from, end).includes('/')) return { source: '\\[', end: start }
  const members = Array.from(glob.slice(from, end), (member) => (member === '-' ? member : literal(member))).join('')
  return { source: isNegated ? `[^/${members}]` : `[${members}]`, end }
}

function literal(character: string): string {
  return /[\w\s/]|[^\0-\x7f]/.test(character) ? character : `\\x{${character.charCodeAt(0).toString(16)}}`
}
