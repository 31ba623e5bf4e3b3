import { createClient } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import type { registry } from "../http-client.ts"

export default async function handle(request: Request): Promise<Response> {
  const authorization = request.headers.get("authorization") ?? ""
  const client = createClient<typeof registry>(
    createHTTPTransport(process.env["SHOP_URL"] ?? "", { headers: { authorization } }),
  )
  const article = new URL(request.url).searchParams.get("article") ?? ""
  const { data } = await client.shop.price({ article })
  return new Response(`${article}: ${data.cents / 100}`)
}
