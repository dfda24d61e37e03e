import type { Function, Node } from 'acorn'
import { ArtifactError } from '../../errors.ts'
import type { WorkPace } from '../_pace.ts'
import { exportsOf, importOf } from './_module.ts'
import type { StatementSource, StatementGenerator } from './_statements.ts'
import { isFunctionNode, fullName, stepsBelow, type TreeStep } from './_steps.ts'

/** Lines of a text: from `line` up to and without `endLine`, counted from 0. */
export interface Lined {
  readonly line: number
  readonly endLine: number
}

/** What a module takes from another one. */
export interface ModuleImport extends Lined {
  /** The other module, as it is written. */
  readonly from: string
  /** Such as `join`, `a as b`, `default as path` or `* as fs`. Empty if it has no names here. */
  readonly names: readonly string[]
  readonly kind: 'import' | 'import()' | 'require'
}

/** A name that a module gives to others. */
export interface ModuleExport extends Lined {
  /** `default` for the default export, `*` for all of another module, `module.exports` for all that a script gives. */
  readonly name: string
  /** Its name within the module, if that is another one. */
  readonly local?: string
  /** The other module, if it comes from there. */
  readonly from?: string
}

/** A function, method or class that has a name. */
export interface NamedFunction extends Lined {
  /** With the names of what is around it, such as `Cart.total`. */
  readonly name: string
  readonly kind: 'function' | 'class' | 'constructor' | 'method' | 'getter' | 'setter'
  /** As they are written, each cut at 100 characters. */
  readonly parameters: readonly string[]
  readonly isAsync?: true
  readonly isGenerator?: true
}

/** What a text declares, in the order of its lines. */
export interface Outline {
  readonly imports: ModuleImport[]
  readonly exports: ModuleExport[]
  readonly functions: NamedFunction[]
}

/** How many imports, exports and functions are kept. */
const mostOutlined = 100_000
const longestParameter = 100

/** Statements that are read on the way through a tree. */
interface Body {
  readonly statements: StatementGenerator
  readonly prefix: string
  readonly isTop?: true
}

/** Collects what statements declare. The statements themselves are not kept. */
export class OutlineBuilder {
  readonly outline: Outline = { imports: [], exports: [], functions: [] }
  readonly #text: string
  /** Where each line begins. */
  readonly #starts: readonly number[]

  constructor(text: string) {
    this.#text = text
    const starts = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    this.#starts = starts
  }

  /** Reads all statements. @throws `E_ARTIFACT` if there are too many names. */
  async read(source: StatementSource, pace: WorkPace): Promise<Outline> {
    const steps: (TreeStep | Body)[] = [{ statements: source.all, prefix: '', isTop: true }]
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (pace.isDue('node' in step ? 200 : 20_000)) await pace.pause()
      if ('node' in step) steps.push(...this.#entered(step, source))
      else {
        const { done, value: node } = step.statements.next()
        if (done === true) continue
        steps.push(step, { node, prefix: step.prefix })
        if (step.isTop === true)
          for (const each of exportsOf(node)) this.outline.exports.push({ ...each, ...this.#linesOf(node) })
      }
    }
    return this.outline
  }

  /** Takes a node. Returns the steps below it, the last of them first. */
  #entered(step: TreeStep, source: StatementSource): (TreeStep | Body)[] {
    const { imports, exports, functions } = this.outline
    const { node, prefix } = step
    const importEntry = importOf(step)
    if (importEntry !== undefined) imports.push({ ...importEntry, ...this.#linesOf(node) })
    const name = fullName(step)
    if (name !== undefined && isFunctionNode(node)) functions.push(this.#described(step, name))
    if (imports.length + exports.length + functions.length > mostOutlined) {
      throw new ArtifactError(`The artifact declares more than ${mostOutlined.toLocaleString('en')} names.`)
    }
    const statements = source.bodyOf(node)
    return statements === undefined ? stepsBelow(step, name, this.#text).toReversed() : [{ statements, prefix }]
  }

  /** Returns the line of a place in the text. */
  lineOf(at: number): number {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.#starts[middle]! <= at) low = middle
      else high = middle
    }
    return low
  }

  #described({ node, kind = 'function' }: TreeStep, name: string): NamedFunction {
    const isClass = node.type === 'ClassDeclaration' || node.type === 'ClassExpression'
    const { params = [], async: isAsync, generator: isGenerator } = node as Partial<Function>
    return {
      name,
      kind: isClass ? 'class' : kind,
      parameters: params.map(({ start, end }) => this.#text.slice(start, Math.min(end, start + longestParameter))),
      ...(isAsync === true && { isAsync }),
      ...(isGenerator === true && { isGenerator }),
      ...this.#linesOf(node),
    }
  }

  #linesOf({ start, end }: Node): Lined {
    return { line: this.lineOf(start), endLine: this.lineOf(end - 1) + 1 }
  }
}
