import { startPostgres } from './postgres.ts'
import { startProxy } from './proxy.ts'
const s = await startPostgres()
if (typeof s === 'string') throw new Error(s)
const p = await startProxy(s.address)
console.log(`postgresql://toolwright@127.0.0.1:${p.port}/postgres`)
process.stdin.on('data', async () => { await p.close(); await s.stop(); process.exit() })
