/** Returns whether a request is a CORS preflight. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method')
}

/** Allows the preflight. The guard checks the request itself when it arrives. */
export function preflight(request: Request): Response {
  const names = request.headers.get('access-control-request-headers')
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, POST, DELETE',
      ...(names === null ? undefined : { 'Access-Control-Allow-Headers': names }),
      'Access-Control-Max-Age': '7200',
    },
  })
}

/** Returns the same response with headers that let pages of the origin read it. */
export function readableBy(origin: string, { body, status, statusText, headers: responseHeaders }: Response): Response {
  const headers = new Headers(responseHeaders)
  headers.set('Access-Control-Allow-Origin', origin)
  headers.set('Access-Control-Expose-Headers', 'Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After')
  headers.append('Vary', 'Origin')
  return new Response(body, { status, statusText, headers })
}
