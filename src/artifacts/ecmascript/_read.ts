import { ArtifactError } from '../../errors.ts'
import { WorkPace } from '../_pace.ts'
import { OutlineBuilder, type Outline } from './_outline.ts'
import { bracesOf, statementSource, type Acorn } from './_statements.ts'

/**
 * Reads the outline of a text: as a module, whose code is strict, or else as a script. Other tasks run meanwhile.
 *
 * @throws `E_ARTIFACT` if it is neither, or more than can be read.
 */
export async function readOutline(text: string): Promise<Outline> {
  const acorn = await loadAcorn()
  const pace = new WorkPace(Infinity, new AbortController().signal)
  const braces = await bracesOf(acorn, text, pace)
  const asModule = await outlineAs('module', text, { acorn, braces, pace })
  if ('imports' in asModule) return asModule
  const asScript = await outlineAs('script', text, { acorn, braces, pace })
  if ('imports' in asScript) return asScript
  // The reading that came further is the one that was meant.
  const { line, cause } = asScript.cause.pos > asModule.cause.pos ? asScript : asModule
  const reason = cause.message.replace(/ \(\d+:\d+\)$/, '').slice(0, 200)
  throw new ArtifactError(
    `The artifact cannot be read as ECMAScript; TypeScript and JSX are not read. Line ${line}: ${reason}.`,
    { cause },
  )
}

interface ParseFailure {
  /** Counted from 0. */
  readonly line: number
  readonly cause: SyntaxError & { readonly pos: number }
}

interface OutlineParts {
  readonly acorn: Acorn
  readonly braces: ReadonlyMap<number, number>
  readonly pace: WorkPace
}

async function outlineAs(
  sourceType: 'module' | 'script',
  text: string,
  { acorn, braces, pace }: OutlineParts,
): Promise<Outline | ParseFailure> {
  const builder = new OutlineBuilder(text)
  try {
    return await builder.read(statementSource(acorn, text, sourceType, braces), pace)
  } catch (cause) {
    // The parser and the engine's own patterns say it when the stack is full.
    if (cause instanceof RangeError || (cause instanceof SyntaxError && /\bstack\b/.test(cause.message))) {
      throw new ArtifactError('A statement of the artifact is nested too deeply to parse.', { cause })
    }
    if (!(cause instanceof SyntaxError)) throw cause
    const failure = cause as ParseFailure['cause']
    return { line: builder.lineOf(failure.pos), cause: failure }
  }
}

// In `try`, so that bundlers let the package be missing.
async function loadAcorn(): Promise<Acorn> {
  try {
    return await import('acorn')
  } catch (cause) {
    throw new ArtifactError('ECMAScript needs the package acorn (npm install acorn).', { cause })
  }
}
