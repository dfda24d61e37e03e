import type { ToolExecutor } from 'toolwright'
import { listen, type FetchHandler } from 'toolwright/client/node'
import { inspector } from 'toolwright/devtools/inspector'

/** A page with the API that it talks to. */
interface InspectedPage {
  readonly executor: ToolExecutor
  readonly fetch: FetchHandler
  /** The folder of the built page. */
  readonly files: string
}

/** Serves a page, and below `/inspector/` the inspector, which the page may have in a frame. `/calls` leads to it. */
export async function listenWithInspector({ executor, fetch, files }: InspectedPage): Promise<{
  readonly url: string
  readonly calls: string
}> {
  const inspecting = inspector({ executor, canCall: true, base: '/inspector' })
  const address = `/inspector/#token=${inspecting.token}`

  async function answer(...[request, from]: Parameters<FetchHandler>): Promise<Response> {
    const { pathname } = new URL(request.url)
    // The shop and the inspector belong to the same person here. A program for others would not give the token away.
    if (pathname === '/calls') return new Response(null, { status: 302, headers: { location: address } })
    return pathname.startsWith('/inspector/') ? framed(await inspecting.fetch(request)) : fetch(request, from)
  }

  const { url } = await listen(answer, { files })
  return { url, calls: url + address }
}

/** Lets pages of the same origin have an answer in a frame, which the inspector lets none. */
function framed(answer: Response): Response {
  const policy = answer.headers.get('content-security-policy')
  if (policy === null) return answer
  const headers = new Headers(answer.headers)
  headers.set('content-security-policy', policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"))
  return new Response(answer.body, { status: answer.status, headers })
}
