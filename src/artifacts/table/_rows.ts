import { ArtifactError } from '../../errors.ts'
import { longestRecord, type Assembler } from '../_records.ts'

/** The text of a row, and the line at which it begins. */
export interface RawRow {
  readonly line: number
  readonly text: string
}

/** The most cells of one row. */
const mostCells = 16_384

/** Assembles rows from lines. A line end between quotes is part of a cell. Empty lines are skipped. */
export class RowAssembler implements Assembler<RawRow> {
  readonly #delimiter: string
  #parts: string[] = []
  #length = 0
  #line = 0

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  get openSince(): number | undefined {
    return this.#parts.length > 0 ? this.#line : undefined
  }

  take(text: string, line: number): RawRow | undefined {
    const isOpen = this.#parts.length > 0
    if (!isOpen && !text.includes('"')) {
      if (text.length > longestRecord) throw tooLongRow(line)
      return text === '' ? undefined : { line, text }
    }
    const goesOn = endsWithin(text, this.#delimiter, isOpen)
    if (!isOpen && !goesOn && text.length <= longestRecord) return { line, text }
    if (!isOpen) this.#line = line
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length > longestRecord) throw tooLongRow(this.#line)
    return goesOn ? undefined : this.end()
  }

  end(): RawRow | undefined {
    if (this.#parts.length === 0) return undefined
    const row = { line: this.#line, text: this.#parts.join('\n') }
    this.#parts = []
    this.#length = 0
    return row
  }
}

function tooLongRow(line: number): ArtifactError {
  return new ArtifactError(
    `The row at line ${line} (counted from 0) has more than ${longestRecord.toLocaleString('en')} characters. Is a quote never closed?`,
  )
}

/** Whether a cell in quotes is still open at the end of a line. Only a quote at the beginning of a cell opens it. */
function endsWithin(text: string, delimiter: string, isOpen: boolean): boolean {
  let isWithin = isOpen
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    if (!isWithin) isWithin = at === 0 || text[at - 1] === delimiter
    else if (text[at + 1] === '"') at++
    else isWithin = false
  }
  return isWithin
}

/** Returns the cells of a row. @param count How many of them, from the first on. Default: all. */
export function cellsOf({ line, text }: RawRow, delimiter: string, count: number = mostCells + 1): string[] {
  const cells = text.includes('"') ? unquotedCells(text, delimiter, count) : text.split(delimiter, count)
  if (cells.length > mostCells) {
    throw new ArtifactError(`The row at line ${line} (counted from 0) has more than ${mostCells} cells.`)
  }
  return cells
}

function unquotedCells(text: string, delimiter: string, count: number): string[] {
  const cells: string[] = []
  for (let at = 0; at <= text.length && cells.length < count; at++) {
    const begin = at
    let cell: string | undefined
    if (text[at] === '"') {
      const close = closingQuote(text, at)
      if (close === text.length || close + 1 === text.length || text[close + 1] === delimiter) {
        cell = text.slice(at + 1, close).replaceAll('""', '"')
      }
      at = close + 1
    }
    const next = text.indexOf(delimiter, at)
    at = next < 0 ? text.length : next
    cells.push(cell ?? text.slice(begin, at)) // a cell that goes on after its closing quote stays as written
  }
  return cells
}

/** Returns the position of the closing quote, or the end of the text if there is none. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (text[at + 1] !== '"') return at
    at++
  }
  return text.length
}

/** Returns the separator of cells. If the first line has no comma, it may be a semicolon or a tab. */
export function delimiterOf(mediaType: string, firstLine: string): string {
  if (/^\s*text\/tab-separated-values\b/i.test(mediaType)) return '\t'
  const plain = firstLine.replace(/"[^"]*"?/g, '')
  return [',', ';', '\t'].find((each) => plain.includes(each)) ?? ','
}

/** Returns unique names of columns. A column without a name is named by its place. */
export function uniqueNames(header: readonly string[]): string[] {
  const headerNames = new Set(header)
  const used = new Set<string>()
  const numbers = new Map<string, number>()
  return header.map((text, index) => {
    const isNamed = text.trim() !== ''
    const base = isNamed ? text : `column_${index + 1}`
    let name = base
    if (isNamed ? used.has(base) : headerNames.has(base)) {
      let number = numbers.get(base) ?? 2
      while (headerNames.has(`${base}_${number}`) || used.has(`${base}_${number}`)) number++
      numbers.set(base, number + 1)
      name = `${base}_${number}`
    }
    used.add(name)
    return name
  })
}
