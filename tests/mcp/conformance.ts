// Runs the protocol's own suite against our server and our client, and says what it found. It ends with 1 where something that
// is required does not hold, or something holds that `expected-failures.yml` says fails.
import { join } from 'node:path'
import { missing } from '../servers/installed.ts'
import { startConformanceServer } from './_conformance-server.ts'
import { revisions, runSuite, type Findings } from './_suite.ts'

if (missing !== undefined) {
  console.error(`The suite cannot run: ${missing}`)
  process.exit(1)
}

function tell(title: string, { code, output }: Findings): void {
  console.log(`\n== ${title}: ${code === 0 ? 'conforms' : 'does not conform'}\n`)
  console.log(output.slice(output.indexOf('=== SUMMARY')))
  if (code !== 0) process.exitCode = 1
}

const server = await startConformanceServer()
for (const revision of revisions) tell(`server, ${revision}`, await runSuite('server', server.url, revision))
await server.close()

const client = join(import.meta.dirname, '_conformance-client.ts')
const command = `${process.execPath} --disable-warning=ExperimentalWarning -C @toolwright/source ${client}`
for (const revision of revisions) tell(`client, ${revision}`, await runSuite('client', command, revision))
