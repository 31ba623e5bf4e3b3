// #region define
import { createClient, createRegistry, defineOperation } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import { serveHTTP } from "@alkdev/operations/node"
import { z } from "zod"

const thumbnail = defineOperation({
  type: "mutation",
  description: "Makes a photo smaller",
  inputSchema: z.object({ photo: z.file().mime("image/png").max(1_000_000), bytes: z.int() }),
  outputSchema: z.file(),
  accessControl: { requiredScopes: [] },
  handler: ({ photo, bytes }) =>
    new File([photo.slice(0, bytes)], `small-${photo.name}`, { type: photo.type }),
})

const registry = createRegistry({ photos: { thumbnail } }, { output: "strict" })
const served = await serveHTTP(registry, { port: 0 })
// #endregion

// #region use
const client = createClient<typeof registry>(createHTTPTransport(served.url))
const photo = new File(["meow"], "cat.png", { type: "image/png" })
const { data } = await client.photos.thumbnail({ photo, bytes: 2 })
console.log(data instanceof File, data.name, await data.text())

const form = new FormData()
form.append("photo", new File(["<html>"], "page.html", { type: "text/html" }))
form.append("bytes", "2")
const refused = await fetch(`${served.url}/api/photos/thumbnail`, { method: "POST", body: form })
console.log(refused.status, ((await refused.json()) as { detail: string }).detail)
// #endregion

await client.close()
await served.close()
