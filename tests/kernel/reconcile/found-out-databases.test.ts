import { databases } from '../_databases.ts'
import { describeFindings } from './_findings.ts'

for (const [name, place] of databases) describeFindings(name, place, 500)
