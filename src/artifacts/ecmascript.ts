/**
 * ECMAScript texts (JavaScript), with their imports, exports and functions. It runs nothing, and follows no import. It reads
 * neither TypeScript nor JSX.
 *
 * @module
 */
import { TextArtifact, type ArtifactQuery } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import type { ModuleExport, ModuleImport, NamedFunction, Outline } from './ecmascript/_outline.ts'
import { readOutline } from './ecmascript/_read.ts'
import { lazily } from './_lazily.ts'
import { rangeFields, objectSchema, type Ranged } from './_query.ts'

export type { ModuleExport, ModuleImport, NamedFunction }

/**
 * A result that is ECMAScript: a module, or a script with CommonJS or without.
 *
 * The text is parsed once, on the first query, while other tasks run too. Lines are counted from 0;
 * `cat(line, endLine)` reads those of a function. Needs the package `acorn`, and reads the ECMAScript that it knows: TypeScript
 * and JSX are not read.
 *
 * All methods throw `E_ARTIFACT` if the text is not ECMAScript, has more than 2,097,152 bytes (`static largest` of a subclass),
 * declares more than 100,000 names, or has a statement with more than 32,768 characters beside the functions in it, or one that
 * is nested too deeply.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { EcmaScriptArtifact } from 'toolwright/artifacts/ecmascript'
 *
 * const source = tool({
 *   name: 'read_source',
 *   description: 'Reads a source file',
 *   artifact: EcmaScriptArtifact,
 *   handler: () => "import { join } from 'node:path'\nexport const at = (name) => join('/srv', name)\n",
 * })
 * ```
 * @see https://tc39.es/ecma262/
 * @experimental
 */
export class EcmaScriptArtifact extends TextArtifact {
  static override readonly kind: string = 'ecmascript'
  static override readonly mediaType: string = 'text/javascript'
  static override readonly mediaTypes: readonly string[] = [
    'text/javascript',
    'application/javascript',
    'application/ecmascript',
    'text/ecmascript',
  ]
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
    ecmascript_imports: {
      description:
        'Lists what a JavaScript module imports, also by require(), with lines. TypeScript and JSX are not read.',
      inputSchema: objectSchema(rangeFields),
      answer: async (artifact: EcmaScriptArtifact, range: Ranged) => part(await artifact.imports(), range),
    },
    ecmascript_exports: {
      description:
        'Lists the names that a JavaScript module exports, also in CommonJS, with lines. TypeScript and JSX are not read.',
      inputSchema: objectSchema(rangeFields),
      answer: async (artifact: EcmaScriptArtifact, range: Ranged) => part(await artifact.exports(), range),
    },
    ecmascript_functions: {
      description:
        'Lists the functions, methods and classes of JavaScript that have names, with parameters and lines; artifact_cat shows their lines, from line up to and without endLine. TypeScript and JSX are not read.',
      inputSchema: objectSchema({
        name: { type: 'string', description: 'A part of their names, such as Cart. or total. Default: all' },
        ...rangeFields,
      }),
      answer: async (artifact: EcmaScriptArtifact, { name, ...range }: Ranged & { readonly name?: string }) =>
        part(await artifact.functions(name), range),
    },
  }
  /** The most bytes of a text that is parsed. */
  static readonly largest: number = 2_097_152
  readonly #outline: () => Promise<Outline> = lazily(() => this.#parse())

  /** Returns what the text imports, in order. @throws `E_ARTIFACT` as above. */
  async imports(): Promise<ModuleImport[]> {
    return [...(await this.#outline()).imports]
  }

  /** Returns the names that the text exports, in order. @throws `E_ARTIFACT` as above. */
  async exports(): Promise<ModuleExport[]> {
    return [...(await this.#outline()).exports]
  }

  /**
   * Returns the functions, methods and classes that have names, in order. Functions within functions come after those.
   *
   * @param name A part of their names. Default: all.
   * @throws `E_ARTIFACT` as above.
   */
  async functions(name = ''): Promise<NamedFunction[]> {
    return (await this.#outline()).functions.filter((each) => each.name.includes(name))
  }

  async #parse(): Promise<Outline> {
    const { largest } = this.constructor as typeof EcmaScriptArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `The artifact has ${this.byteLength().toLocaleString('en')} bytes of ECMAScript, more than the ${largest.toLocaleString('en')} that are parsed. Ask about its lines instead.`,
      )
    }
    return readOutline(await this.asString())
  }
}

function part<Item>(items: readonly Item[], { start = 0, limit = 100 }: Ranged): Item[] {
  return items.slice(start, start + limit)
}
