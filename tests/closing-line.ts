import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends a run with a line for each test that was skipped, and one plain line that says how many passed, failed and were skipped.
 * A suite leaves a test out, with its reason, if the leaf has not what the port leaves to it: that is no skip.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length }
    const skipped: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result()
        const { state } = result
        if (state === 'passed' || state === 'failed') counts[state]++
        else if (result.state === 'skipped' && result.note?.startsWith('left out: ')) continue
        else skipped.push(`skipped: ${module.relativeModuleId} > ${test.fullName}\n`)
      }
      if (module.errors().length > 0) counts.failed++
    }
    const count = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
    process.stdout.write(`\n${skipped.join('')}${counts.passed} passed, ${counts.failed} failed${count}\n`)
  }
}
