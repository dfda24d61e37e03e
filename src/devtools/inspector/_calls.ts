import type { HttpClientsOptions } from '../../client/http.ts'
import { pageGuard } from '../../client/http/_guard.ts'
import { jsonBody, faultAnswer, answerOfThrown, reply, textField } from '../../client/http/_reply.ts'
import { reporterOf } from '../../extension.ts'
import type { ToolDescription } from '../../index.ts'

/** The tools that the page may call. */
export interface ToolPage {
  readonly canCall: boolean
  readonly tools: readonly Pick<ToolDescription, 'name' | 'description' | 'inputSchema'>[]
}

/** The largest body of a call, in bytes. */
const largestBody = 1_048_576

/**
 * Answers `GET /api/tools` with the tools that models may call, and `POST /api/tools` with the id of a call that it made. The
 * same users may send them as for the rest of the API.
 */
export function callsOfPage(options: HttpClientsOptions, canCall: boolean): (request: Request) => Promise<Response> {
  const { executor } = options
  const report = reporterOf(options.report)
  const admit = pageGuard(options)

  function list(): Response {
    const tools = executor.tools().flatMap((definition) => {
      const { name, description, inputSchema } = definition.describe()
      return definition.type === 'client' ? [] : [{ name, description, inputSchema }]
    })
    return reply({ canCall, tools } satisfies ToolPage)
  }

  async function call(request: Request): Promise<Response> {
    if (!canCall) return faultAnswer(403, 'E_FORBIDDEN', 'This page may not call tools.')
    const body = await jsonBody(request, largestBody)
    const { args = {} } = body
    const invocationId = crypto.randomUUID()
    // The call goes on without the page, which sees it in its stream.
    void executor.execute({ name: textField(body, 'name', 1_024) ?? '', args }, { invocationId }).catch(report)
    return reply({ invocationId }, 202)
  }

  return async (request) => {
    try {
      const admission = await admit(request)
      if (admission.answer !== undefined) return admission.answer
      if (request.method === 'GET') return list()
      if (request.method === 'POST') return await call(request)
      return faultAnswer(405, 'E_METHOD', 'This method is not for this address.', { allow: 'GET, POST' })
    } catch (error) {
      return answerOfThrown(error, report)
    }
  }
}
