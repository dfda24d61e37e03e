// Under vitest, React is the one for development.
import { describeRoot } from './_root-suite.tsx'

describeRoot('development')
