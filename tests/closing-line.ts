import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with a line for each test that was skipped, and one plain line that says how many passed, failed and were skipped. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length }
    const skipped: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed' || state === 'failed') counts[state]++
        else skipped.push(`skipped: ${module.relativeModuleId} > ${test.fullName}\n`)
      }
      if (module.errors().length > 0) counts.failed++
    }
    const count = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
    process.stdout.write(`\n${skipped.join('')}${counts.passed} passed, ${counts.failed} failed${count}\n`)
  }
}
