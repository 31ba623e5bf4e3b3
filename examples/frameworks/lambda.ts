import { api } from "./api.ts"

/** An API Gateway event, payload format 2.0. */
interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Record<string, string>
  readonly cookies?: readonly string[]
  readonly requestContext: { domainName: string; http: { method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

export async function handler(event: LambdaEvent): Promise<object> {
  const { rawPath, rawQueryString, requestContext, body } = event
  const url = new URL(`https://${requestContext.domainName}${rawPath}`)
  url.search = rawQueryString
  const headers = new Headers(event.headers)
  // They are not among the headers.
  if (event.cookies !== undefined) headers.set("cookie", event.cookies.join("; "))
  const response = await api.fetch(
    new Request(url, {
      method: requestContext.http.method,
      headers,
      body:
        body === undefined ? null : Buffer.from(body, event.isBase64Encoded ? "base64" : "utf8"),
    }),
  )
  const cookies = response.headers.getSetCookie()
  response.headers.delete("set-cookie")
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body: Buffer.from(await response.arrayBuffer()).toString("base64"),
    isBase64Encoded: true,
  }
}
