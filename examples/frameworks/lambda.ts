import { api } from "./api.ts"

/** An API Gateway event, payload format 2.0. */
interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Record<string, string>
  readonly requestContext: { domainName: string; http: { method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

export async function handler(event: LambdaEvent): Promise<object> {
  const { rawPath, rawQueryString, headers, requestContext, body } = event
  const url = new URL(rawPath, `https://${requestContext.domainName}`)
  url.search = rawQueryString
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
