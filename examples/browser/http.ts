import { createClient } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import type { registry } from "./worker.ts"

const client = createClient<typeof registry>(createHTTPTransport("/api"))

document.title = (await client.text.shout({ text: "hello" })).data
