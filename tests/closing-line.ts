import type { Reporter, TestModule } from 'vitest/node'

/** How many skipped tests of a file are named. If there are more, the file is, with their number. */
const mostNamed = 3

/** What `npm test` leaves to `npm run test:all`. */
export interface LeftOut {
  /** The reason of each test file. */
  readonly leftOut?: ReadonlyMap<string, string>
}

/**
 * Ends a run with lines for the tests that were skipped and for the files that were left out, and one plain line that says how many
 * tests passed, failed and were skipped. A suite leaves a test out, with its reason, if the leaf has not what the port leaves to it: that
 * is no skip.
 */
export default class ClosingLine implements Reporter {
  readonly #leftOut: ReadonlyMap<string, string>

  constructor({ leftOut = new Map() }: LeftOut = {}) {
    this.#leftOut = leftOut
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 }
    let lines = ''
    for (const module of modules) {
      const skipped: string[] = []
      let size = 0
      for (const test of module.children.allTests()) {
        const result = test.result()
        const { state } = result
        size++
        if (state === 'passed' || state === 'failed') counts[state]++
        else if (result.state === 'skipped' && result.note?.startsWith('left out: ')) continue
        else skipped.push(test.fullName)
      }
      if (module.errors().length > 0) counts.failed++
      // What is prepared before the tests of a suite may fail, which skips them.
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed++
      counts.skipped += skipped.length
      const named = skipped.length > mostNamed ? [`${skipped.length} of its ${size} tests`] : skipped
      lines += named.map((name) => `skipped: ${module.relativeModuleId} > ${name}\n`).join('')
    }
    for (const reason of new Set(this.#leftOut.values())) {
      const files = [...this.#leftOut.keys()].filter((file) => this.#leftOut.get(file) === reason)
      lines += `left to \`npm run test:all\`: ${reason} (${files.length} ${files.length === 1 ? 'file' : 'files'})\n`
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    const leftOut = this.#leftOut.size > 0 ? `, ${this.#leftOut.size} files left out` : ''
    process.stdout.write(`\n${lines}${counts.passed} passed, ${counts.failed} failed${skipped}${leftOut}\n`)
  }
}
