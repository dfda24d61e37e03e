// Runs the protocol's own suite against our server and our client, and says what it found. It ends with 1 where something that
// is required does not hold, or something holds that `expected-failures.yml` says fails.
import { missing } from '../servers/installed.ts'
import { startConformanceServer } from './_conformance-server.ts'
import { revisions, runClient, runServer, scenariosOf, type Findings } from './_suite.ts'

if (missing !== undefined) {
  console.error(`The suite cannot run: ${missing}`)
  process.exit(1)
}

function tell(title: string, { conforms, failures }: Findings): void {
  console.log(`${title}: ${conforms ? 'conforms' : 'does not conform'}`)
  for (const failure of failures) console.log(`  ${failure}`)
  if (!conforms) process.exitCode = 1
}

const server = await startConformanceServer()
for (const revision of revisions) tell(`server, ${revision}`, await runServer(server.url, revision))
await server.close()

for (const revision of revisions) {
  const scenarios = scenariosOf(revision)
  await Promise.all(
    scenarios.map(async (scenario) => tell(`client, ${revision}, ${scenario}`, await runClient(scenario, revision))),
  )
}
