import { BinaryArtifact, JsonArtifact, SpooledArtifact, TextArtifact } from 'toolwright'
import { jsonQueries } from '../../src/artifacts/_json-queries.ts'
import { artifactConformance } from '../conformance/artifacts.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('SpooledArtifact', SpooledArtifact)
artifactConformance('TextArtifact', TextArtifact)
artifactConformance('JsonArtifact', JsonArtifact, { queries: jsonQueries, inputs: jsonInputs })
artifactConformance('BinaryArtifact', BinaryArtifact)
