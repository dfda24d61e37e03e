import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line that says how many tests passed, failed and were skipped. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      if (module.errors().length > 0) counts.failed++
    }
    const skipped = counts.skipped + counts.pending
    process.stdout.write(
      `\n${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    )
  }
}
