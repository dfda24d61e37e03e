/**
 * The test files that `npm test` leaves out, each with the reason. `npm run test:all` runs them too. A file belongs here if it
 * takes more than about 8 seconds, or needs more than a clone has: servers, browsers, other runtimes.
 */
const filesByReason: Readonly<Record<string, readonly string[]>> = {
  'processes and servers are killed, round after round': [
    'tests/builtins/killed-host.test.ts',
    'tests/builtins/race.test.ts',
    'tests/crash/bank.test.ts',
    'tests/crash/fleet.test.ts',
    'tests/crash/postgres.test.ts',
    'tests/crash/sqlite.test.ts',
    'tests/examples/approvals-inbox/approval-survives-a-killed-process.test.ts',
  ],
  'fleets of workers, over real queues': [
    'tests/distributed/alone.test.ts',
    'tests/distributed/bus.test.ts',
    'tests/distributed/dispatchers.test.ts',
    'tests/distributed/fleet.test.ts',
    'tests/distributed/lacking.test.ts',
    'tests/distributed/redis.test.ts',
    'tests/examples/fleet/fleet.test.ts',
  ],
  'real databases and object stores': [
    'tests/journals/migration.test.ts',
    'tests/kernel/reconcile/found-out-databases.test.ts',
    'tests/journals/postgres.test.ts',
    'tests/testing/tapes-heavy.test.ts',
    'tests/stores/postgres.test.ts',
    'tests/stores/s3.test.ts',
  ],
  'real browsers': [
    'tests/client/browser-attacks.test.ts',
    'tests/client/browser.test.ts',
    'tests/client/hooks.test.ts',
    'tests/client/inspector.test.ts',
    'tests/client/pictures.test.ts',
    'tests/client/processes.test.ts',
    'tests/client/story.test.ts',
  ],
  'every platform, bundler and compiler': [
    'tests/guards/bundlers.test.ts',
    'tests/guards/declarations.test.ts',
    'tests/portable/matrix.test.ts',
    'tests/portable/pages.test.ts',
    'tests/portable/portable.test.ts',
    'tests/portable/runtimes.test.ts',
    'tests/examples/agent-loop.test.ts',
  ],
  'the suites of other protocols, against real servers': [
    'tests/mcp/client-conformance.test.ts',
    'tests/mcp/conformance.test.ts',
    'tests/mcp/server-http.test.ts',
    'tests/examples/mcp-server/filesystem.test.ts',
  ],
  'real sandboxes and floods of output': [
    'tests/builtins/bubblewrap.test.ts',
    'tests/builtins/flood.test.ts',
    'tests/builtins/sandbox-runtime.test.ts',
  ],
  'the inbox of waiting calls, over every journal': [
    'tests/cli/inbox.test.ts',
    'tests/kernel/waiting/inbox.test.ts',
    'tests/kernel/waiting/settled.test.ts',
    'tests/examples/approvals-inbox/inbox.test.ts',
  ],
  'a process for each command': [
    'tests/cli/command.test.ts',
    'tests/cli/executor.test.ts',
    'tests/cli/formats.test.ts',
    'tests/cli/init.test.ts',
    'tests/cli/lock.test.ts',
    'tests/cli/openapi.test.ts',
    'tests/cli/page.test.ts',
    'tests/cli/run.test.ts',
    'tests/cli/terminal.test.ts',
    'tests/cli/workspace.test.ts',
    'tests/imports/inspector.test.ts',
    'tests/imports/names.test.ts',
  ],
  'every attack on paths, over both ways to keep them': ['tests/builtins/paths.test.ts'],
  'documents of real APIs, and thousands of calls of one': [
    'tests/imports/canary.test.ts',
    'tests/imports/cuts.test.ts',
    'tests/imports/documents.test.ts',
    'tests/imports/oracle.test.ts',
  ],
  'ten thousand schedules of calls that clash': ['tests/kernel/lock-schedules-heavy.test.ts'],
  'large files': ['tests/stores/file.test.ts'],
  'every snippet of the pages, each in a process of its own': [
    'tests/frameworks/readme.test.ts',
    'tests/snippets.test.ts',
  ],
  'the frameworks beside each other': ['tests/frameworks/comparison.test.ts'],
  'the same suite over three databases': ['tests/journals/sql.test.ts'],
}

/** The reason of each file. */
export const heavy: ReadonlyMap<string, string> = new Map(
  Object.entries(filesByReason).flatMap(([reason, files]) => files.map((file) => [file, reason] as const)),
)

/** How many values a random test tries in `npm test`. `npm run test:all` tries all of them, or as many as `FUZZ_RUNS` says. */
export const fewRuns = 200
