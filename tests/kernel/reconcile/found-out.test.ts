import { places } from '../_journals.ts'
import { describeFindings } from './_findings.ts'

for (const [name, place] of places) describeFindings(name, place)
