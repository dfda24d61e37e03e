export { dryRun, type DryCall, type DryQuestion, type DryRun, type DryRunOptions } from './dry-run.ts'
export {
  expectCalls,
  matchers,
  type CallAssertions,
  type ExpectedCall,
  type ExpectedCalls,
  type ExpectedStep,
  type MatcherVerdict,
} from './matchers.ts'
export { callLog, observe, type CallLog, type ObservedCall } from './observe.ts'
export { fakeTools, type Fake, type FakeAnswer, type FakeHandler, type FakeOptions, type Fakes } from './fakes.ts'
export { testOptions } from './test-options.ts'
export {
  script,
  type Script,
  type ScriptedAgentsModel,
  type ScriptedLanguageModel,
  type ScriptMessage,
  type ScriptStep,
  type ScriptCall,
  type ScriptTurn,
} from './script.ts'
