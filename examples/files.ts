// #region define
import { createClient, createRegistry, defineOperation } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import { serveHTTP } from "@alkdev/operations/node"
import { Bytes, FileStream, toFile, Type } from "@alkdev/operations/type"

const count = defineOperation({
  type: "mutation",
  description: "Counts the bytes of a photo, as they arrive",
  inputSchema: Type.Object({ title: Type.String(), photo: FileStream() }),
  outputSchema: Type.Object({ title: Type.String(), name: Type.String(), bytes: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: async ({ title, photo }) => {
    let bytes = 0
    await photo.stream().pipeTo(
      new WritableStream({
        write: (chunk) => void (bytes += chunk.byteLength),
      }),
    )
    return { title, name: photo.name ?? "no name", bytes }
  },
})

const render = defineOperation({
  type: "query",
  description: "Writes a table of numbers, line by line",
  inputSchema: Type.Object({ lines: Type.Integer() }),
  outputSchema: FileStream({ contentMediaType: "text/csv" }),
  accessControl: { requiredScopes: [] },
  handler: ({ lines }) => toFile(rows(lines), { name: "Größe.csv", type: "text/csv" }),
})

const invert = defineOperation({
  type: "query",
  description: "Inverts every byte",
  inputSchema: Type.Object({ bytes: Bytes() }),
  outputSchema: Bytes(),
  accessControl: { requiredScopes: [] },
  handler: ({ bytes }) => bytes.map((byte) => 255 - byte),
})

async function* rows(lines: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let line = 1; line <= lines; line++) yield encoder.encode(`${line},${line * line}\n`)
}
// #endregion

// #region serve
const registry = createRegistry({ photos: { count, render, invert } }, { output: "strict" })
const served = await serveHTTP(registry, { port: 0, maxUploadBytes: 5 * 1024 ** 3 })
// #endregion

// #region upload
const form = new FormData()
form.append("title", "A cat")
form.append("photo", new File(["meow"], "cat.png", { type: "image/png" }))
const sent = await fetch(`${served.url}/api/photos/count`, { method: "POST", body: form })
console.log(await sent.json())

const raw = await fetch(`${served.url}/api/photos/count?title=A%20dog`, {
  method: "POST",
  body: "woof!",
  headers: {
    "content-type": "image/png",
    "content-disposition": 'attachment; filename="dog.png"',
  },
})
console.log(await raw.json())
// #endregion

// #region download
const table = await fetch(`${served.url}/api/photos/render?lines=3`)
console.log(table.headers.get("content-type"), table.headers.get("content-disposition"))
console.log(await table.text())
// #endregion

// #region client
const client = createClient<typeof registry>(createHTTPTransport(served.url))
const counted = await client.photos.count({ title: "A cat", photo: new Blob(["purr"]) })
console.log(counted.data)

const file = (await client.photos.render({ lines: 2 })).data
console.log(file.name, file.type, JSON.stringify(await file.text()))

console.log((await client.photos.invert({ bytes: new Uint8Array([0, 1]) })).data)
// #endregion

await client.close()
await served.close()
