import { createClient } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import type { registry } from "../browser/worker.ts"

const client = createClient<typeof registry>(createHTTPTransport("https://api.example.com"))

export default async function handle(request: Request): Promise<Response> {
  const { data } = await client.text.shout({ text: await request.text() })
  return new Response(data)
}
