import { ToolFailure, type ToolContext } from '../../index.ts'
import { isNode, memberOf, type DocumentNode } from './_document.ts'
import type { RequestPlan } from './_request-plan.ts'
import { headerText, invalidArgument, pathSegment, queryPairs, withoutNull } from './_parameters.ts'
import { defineOwn } from './_schemas.ts'
import { sentBody, type SentBody } from './_sent-bodies.ts'

/** The parts of a request that the args decide. */
export interface OperationRequest {
  readonly path: string
  readonly query: string[]
  readonly headers: Headers
  readonly cookies: string[]
  readonly body: SentBody | undefined
}

/** Writes a request. @throws `ToolFailure` if no request can have these args. */
export async function operationRequest(
  plan: RequestPlan,
  input: DocumentNode,
  context: ToolContext,
): Promise<OperationRequest> {
  const query: string[] = []
  const headers = new Headers()
  const cookies: string[] = []
  let { path } = plan
  for (const parameter of plan.parameters) {
    const { arg, place, name, isJson } = parameter
    const value = arg === undefined ? await fixedValue(name, parameter.fixed, context) : memberOf(input, arg)
    const sent = isJson ? JSON.stringify(value) : withoutNull(value)
    if (sent === undefined) {
      if (place === 'path') throw invalidArgument(`\`${name}\` is missing`)
      continue
    }
    const isReserved = (key: string): boolean => arg !== undefined && plan.reserved.has(`${place} ${key}`)
    if (place === 'path') {
      const segment = pathSegment(parameter, sent, plan.byComma)
      path = path.replaceAll(`{${name}}`, () => segment)
    } else if (place === 'header') headers.set(name, headerText(parameter, sent))
    else if (place === 'query') for (const pair of queryPairs(parameter, sent, isReserved)) query.push(pair)
    else {
      const asForm = { ...parameter, style: 'form', allowReserved: false }
      for (const pair of queryPairs(asForm, sent, isReserved)) cookies.push(pair)
    }
  }
  if (plan.idempotencyHeader !== undefined) headers.set(plan.idempotencyHeader, context.invocationId)
  const value = plan.fixedBody.length === 0 ? memberOf(input, 'body') : await filledBody(plan, input, context)
  const body = plan.body === undefined || value === undefined ? undefined : sentBody(plan.body, value)
  return { path, query, headers, cookies, body }
}

/** Returns the body with its fixed members, which no arg may have. */
async function filledBody(
  { body: plan, fixedBody }: RequestPlan,
  input: DocumentNode,
  context: ToolContext,
): Promise<unknown> {
  const body = memberOf(input, 'body')
  if (plan === undefined) return body
  if (body !== undefined && !isNode(body)) throw invalidArgument('`body` is not an object')
  let filled: DocumentNode | undefined = body
  for (const { pointer, steps, value, isFilled } of fixedBody) {
    const next = filledAt(filled ?? {}, steps, isFilled ? await fixedValue(pointer, value, context) : undefined)
    if (isFilled) filled = next
  }
  return filled
}

function filledAt(node: DocumentNode, [first = '', ...rest]: readonly string[], value: unknown): DocumentNode {
  const own = memberOf(node, first)
  if (rest.length === 0) {
    if (own !== undefined || Object.hasOwn(node, first))
      throw invalidArgument(`\`${first}\` of the body is fixed by the application`)
    return defineOwn({ ...node }, first, value)
  }
  if (own !== undefined && !isNode(own)) throw invalidArgument(`\`${first}\` of the body is not an object`)
  return defineOwn({ ...node }, first, filledAt(own ?? {}, rest, value))
}

/** Returns a fixed value for a call. @throws `ToolFailure` if the application cannot make it: nothing has been sent. */
async function fixedValue(name: string, value: unknown, context: ToolContext): Promise<unknown> {
  if (typeof value !== 'function') return value
  try {
    return (await value(context)) as unknown
  } catch (thrown) {
    if (context.signal.aborted) throw context.signal.reason
    const words = thrown instanceof ToolFailure ? thrown.message : `The fixed value \`${name}\` could not be made.`
    throw new ToolFailure(`${words} The request was not sent.`, { effect: 'none' })
  }
}
