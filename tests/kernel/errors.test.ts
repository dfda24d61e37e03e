import * as door from 'toolwright/errors'
import { ToolDeniedError, ToolDownstreamError, isToolError, ToolError, ToolFailure } from 'toolwright/errors'
import { describe, expect, test } from 'vitest'
import type * as Errors from '../../src/kernel/errors.ts'
import { hostile, revoked } from './_calls.ts'

// A second copy of the module, as a second copy of the package in one process would be.
const secondCopy: string = '../../src/kernel/errors.ts?copy'
const copy = (await import(secondCopy)) as typeof Errors

const classes = Object.entries(door)
  .filter(([name]) => name.endsWith('Error') && name !== 'ToolError' && name !== 'isToolError')
  .map(([name, value]) => [name, value as unknown as typeof ToolError] as const)

describe('every code has a class, and every class a code', () => {
  test('of which there are as many as the table says', () => {
    const codes = classes.map(([, Class]) => Class.code)
    expect(new Set(codes).size).toBe(classes.length)
    expect([...codes].sort()).toEqual(
      [
        'E_APPROVAL_EXPIRED E_APPROVAL_INVALID E_ARTIFACT E_CLIENT_TOOL E_DUPLICATE_INVOCATION E_ILLEGAL_TRANSITION',
        'E_INTERNAL E_INVALID_CONFIGURATION E_INVALID_EXECUTION_TYPE E_INVALID_INITIAL_TOOL_VALUE E_INVALID_TOOL_ARGS',
        'E_INVALID_TOOL_RESULT E_JOURNAL E_LEASED E_SCHEMA_CONVERSION E_SEALED E_TOOL_ALREADY_REGISTERED E_TOOL_CANCELLED',
        'E_TOOL_DENIED E_TOOL_DOWNSTREAM_ERROR E_TOOL_NOT_FOUND E_TOOL_NO_HANDLER E_TOOL_TIMEOUT E_UNAVAILABLE',
        'E_UNCANONICAL_ARGS E_VALIDATOR_FAILED',
      ]
        .join(' ')
        .split(' '),
    )
  })

  test.each(classes)('%s', (name, Class) => {
    const error = new Class('words')
    expect(error.name).toBe(name)
    expect(error.code).toBe(Class.code)
    expect(String(error)).toBe(`${name}: words`)
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toBeInstanceOf(Class)
    expect(error.retryable).toBe(['E_LEASED', 'E_UNAVAILABLE', 'E_VALIDATOR_FAILED'].includes(error.code))
    expect(error.exposed).toBe(true)
    expect('cause' in error).toBe(false)
    for (const [other, Other] of classes) if (other !== name) expect(error instanceof Other).toBe(false)
  })
})

describe('errors are known by their brand', () => {
  test('across two copies of the package, in both directions', () => {
    const theirs = new copy.ToolDeniedError('no')
    const ours = new ToolDeniedError('no')
    expect(copy.ToolDeniedError).not.toBe(ToolDeniedError)
    expect(theirs).toBeInstanceOf(ToolDeniedError)
    expect(theirs).toBeInstanceOf(ToolError)
    expect(isToolError(theirs)).toBe(true)
    expect(ours).toBeInstanceOf(copy.ToolDeniedError)
    expect(ours).toBeInstanceOf(copy.ToolError)
    expect(theirs instanceof ToolDownstreamError).toBe(false)
    expect(new copy.ToolFailure('x')).toBeInstanceOf(ToolFailure)
    expect(new ToolFailure('x')).toBeInstanceOf(copy.ToolFailure)
  })

  test('and not by what they look like', () => {
    const lookalike = { name: 'ToolDeniedError', code: 'E_TOOL_DENIED', message: 'no' }
    expect(lookalike instanceof ToolDeniedError).toBe(false)
    expect(isToolError(JSON.parse(JSON.stringify(new ToolDeniedError('no'))))).toBe(false)
    expect(new Error('no') instanceof ToolError).toBe(false)
    expect(new Error('no') instanceof ToolFailure).toBe(false)
    for (const value of [null, undefined, 0, '', 'E_TOOL_DENIED', Symbol('x'), () => {}]) {
      expect(isToolError(value)).toBe(false)
      expect((value as unknown) instanceof ToolError).toBe(false)
      expect((value as unknown) instanceof ToolFailure).toBe(false)
    }
  })

  test.each([
    ['a proxy that throws', hostile()],
    ['a revoked proxy', revoked()],
    ['a proxy around an error', new Proxy(new ToolDeniedError('no'), {})],
    ['a proxy around a failure', new Proxy(new ToolFailure('no'), {})],
    ['an object that inherits from an error', Object.create(new ToolDeniedError('no')) as object],
    ['a mock that has itself in every member', new Proxy({}, { get: (_, __, itself: object) => itself })],
  ])('also where it is asked of %s', (_, value) => {
    expect(isToolError(value)).toBe(false)
    expect(value instanceof ToolError).toBe(false)
    expect(value instanceof ToolFailure).toBe(false)
  })

  test('a subclass of the application is an instance of itself and of its parent alone', () => {
    class QuotaError extends ToolDeniedError {}
    expect(new QuotaError('over')).toBeInstanceOf(QuotaError)
    expect(new QuotaError('over')).toBeInstanceOf(ToolDeniedError)
    expect(new ToolDeniedError('no') instanceof QuotaError).toBe(false)
    class Broken extends ToolFailure {}
    expect(new Broken('x')).toBeInstanceOf(Broken)
    expect(new Broken('x')).toBeInstanceOf(ToolFailure)
    expect(new ToolFailure('x') instanceof Broken).toBe(false)
  })
})

describe('an error as JSON', () => {
  test('leaks neither stack nor cause', () => {
    const error = new ToolDownstreamError('failed', {
      cause: new Error('canary'),
      issues: [{ message: 'm', path: ['a'] }],
    })
    const json = JSON.stringify(error)
    expect(json).not.toContain('canary')
    expect(json).not.toContain('errors.test')
    expect(JSON.parse(json)).toEqual({
      name: 'ToolDownstreamError',
      code: 'E_TOOL_DOWNSTREAM_ERROR',
      message: 'failed',
      category: 'application',
      retryable: false,
      issues: [{ message: 'm', path: ['a'] }],
    })
    expect(error.cause).toEqual(new Error('canary'))
  })

  test("does not show a denial's result for the model", () => {
    const error = new ToolDeniedError('no', { toolResult: { secret: 1 } })
    expect(error.toolResult).toEqual({ secret: 1 })
    expect(JSON.stringify(error)).not.toContain('secret')
  })
})

test('what the place that throws knows goes before the table', () => {
  const error = new ToolDownstreamError('x', {
    category: 'network',
    retryable: true,
    exposed: false,
    recommendations: ['r'],
  })
  expect(error).toMatchObject({ category: 'network', retryable: true, exposed: false, recommendations: ['r'] })
})

test('a failure that a handler means has no recommendations and is not retryable unless it says so', () => {
  expect(new ToolFailure('x')).toMatchObject({
    name: 'ToolFailure',
    message: 'x',
    recommendations: [],
    retryable: false,
  })
  expect(new ToolFailure('x', { recommendations: ['a'], retryable: true })).toMatchObject({
    recommendations: ['a'],
    retryable: true,
  })
})

describe('an error has an end', () => {
  test('of its message, of which the whole is the cause', () => {
    const words = 'w'.repeat(50_000_000)
    const error = new ToolDeniedError(words)
    expect(error.message).toBe(`${'w'.repeat(8_191)}…`)
    expect(error.cause === words).toBe(true)
    const known = new ToolDeniedError(words, { cause: 'known' })
    expect([known.message.length, known.cause]).toEqual([8_192, 'known'])
    const whole = new ToolDeniedError('w'.repeat(8_192))
    expect([whole.message.length, whole.cause]).toEqual([8_192, undefined])
  })

  test('of its issues, which then say how many more there are', () => {
    const issues = Array.from({ length: 100_000 }, (_, index) => ({ message: 'is wrong', path: ['rows', index] }))
    const error = new ToolDownstreamError('x', { issues })
    expect(error.issues).toHaveLength(101)
    expect(error.issues?.[99]).toEqual(issues[99])
    expect(error.issues?.at(-1)).toEqual({ message: 'and 99900 more', path: [] })
    expect(new ToolDownstreamError('x', { issues: issues.slice(0, 100) }).issues).toEqual(issues.slice(0, 100))
  })

  test.each([
    ['long words', { message: 'w'.repeat(10_000_000), path: [] }],
    ['long keys', { message: 'm', path: ['k'.repeat(10_000_000), Symbol('s')] }],
    ['a long path', { message: 'm', path: Array.from({ length: 1_000_000 }, (_, index) => index) }],
  ])('of each issue: %s', (_, issue) => {
    const error = new ToolDownstreamError('x', { issues: Array.from({ length: 100 }, () => issue) })
    expect(JSON.stringify(error).length).toBeLessThan(250_000)
    expect(error.issues?.length).toBeGreaterThan(0)
  })

  test('of its recommendations', () => {
    const error = new ToolDownstreamError('x', {
      recommendations: Array.from({ length: 1_000 }, () => 'r'.repeat(1e6)),
    })
    expect(error.recommendations).toHaveLength(16)
    expect(error.recommendations?.[0]).toHaveLength(1_024)
  })
})
