import { createHash } from "node:crypto"
import { request } from "node:http"
import { describe, expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { serveHTTP } from "../../../../src/node.ts"
import type { ServeHTTPOptions } from "../../../../src/node.ts"
import { toFile } from "../../../../src/type.ts"
import { fileRegistry, repeated } from "./files.ts"

const hash = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex")

async function served(options: ServeHTTPOptions = {}): Promise<string> {
  const server = await serveHTTP(fileRegistry(), { port: 0, logger: silentLogger, ...options })
  onTestFinished(() => server.close())
  return server.url.replace(/\/$/, "")
}

function form(entries: Record<string, string | File | Blob>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(entries)) {
    if (typeof value === "string") data.append(name, value)
    else data.append(name, value)
  }
  return data
}

const post = (url: string, body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers, duplex: "half" } as RequestInit)

describe("an upload over HTTP", () => {
  test("takes a form with a file and fields of other types", async () => {
    const url = await served()
    const data = form({ title: "Häuser", count: "3", file: new File(["abc"], "a.txt") })
    data.append("tags", "x")
    data.append("tags", "y")

    const response = await post(`${url}/api/files/upload`, data)

    expect(await response.json()).toEqual({
      title: "Häuser",
      count: 3,
      tags: ["x", "y"],
      file: {
        name: "a.txt",
        type: "application/octet-stream",
        size: 3,
        hash: hash("abc"),
        isWhole: true,
      },
    })
  })

  test("takes fields after a file that fits into memory", async () => {
    const url = await served()
    const data = form({ file: new File(["abc"], "a.txt", { type: "text/plain" }), title: "T" })

    const { title, file } = (await (await post(`${url}/api/files/upload`, data)).json()) as never

    expect({ title, file }).toMatchObject({ title: "T", file: { type: "text/plain", size: 3 } })
  })

  test("takes a part of JSON", async () => {
    const url = await served()
    const tags = new Blob(['["a","b"]'], { type: "application/json" })
    const body =
      '--b\r\nContent-Disposition: form-data; name="tags"\r\nContent-Type: application/json\r\n\r\n' +
      `${await tags.text()}\r\n--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n` +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc\r\n--b--\r\n'

    const answer = await post(`${url}/api/files/upload`, body, {
      "content-type": "multipart/form-data; boundary=b",
    })

    expect(await answer.json()).toMatchObject({ tags: ["a", "b"], file: { size: 3 } })
  })

  test("refuses a second file where one is taken", async () => {
    const url = await served()
    const data = form({ title: "T", file: new File(["a"], "a.txt") })
    data.append("file", new File(["b"], "b.txt"))

    const response = await post(`${url}/api/files/upload`, data)

    expect([response.status, await response.json()]).toMatchObject([
      400,
      { detail: '"file" is one value, and more than one part of the form has its name.' },
    ])
  })

  test("takes a file as the body, with its name and with other inputs in the query", async () => {
    const url = await served()

    const response = await post(`${url}/api/files/upload?title=T&count=2`, "abc", {
      "content-type": "image/png",
      "content-disposition": "attachment; filename*=UTF-8''%C3%A4.png",
    })

    expect(await response.json()).toMatchObject({
      title: "T",
      count: 2,
      file: { name: "ä.png", type: "image/png", size: 3, hash: hash("abc") },
    })
  })

  test("takes bytes that are the whole input, and answers with bytes of the declared type", async () => {
    const url = await served()

    const response = await post(`${url}/api/files/whole`, new Uint8Array([1, 2, 3]), {
      "content-type": "application/octet-stream",
    })

    expect(response.headers.get("content-type")).toBe("image/png")
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([3, 2, 1]))
  })

  test("takes base64 in JSON, over REST and the gateway", async () => {
    const url = await served()
    const json = { "content-type": "application/json" }
    const body = JSON.stringify({ title: "T", file: btoa("abc") })

    const rest = await post(`${url}/api/files/upload`, body, json)
    const gateway = await post(`${url}/operations/files.upload`, body, json)
    const bytes = await post(`${url}/api/files/sum`, JSON.stringify({ bytes: "AQI=" }), json)

    expect(await rest.json()).toMatchObject({ file: { size: 3, hash: hash("abc") } })
    expect(await gateway.json()).toMatchObject({ data: { file: { size: 3 } } })
    expect(await bytes.json()).toBe(3)
  })

  test("takes several files of one name, and base64 text for a property of base64 text", async () => {
    const url = await served()
    const data = new FormData()
    data.append("files", new File(["a"], "1"))
    data.append("files", new File(["b"], "2"))

    const several = await post(`${url}/api/files/several`, data)
    const text = await post(`${url}/api/files/encoded`, form({ text: new File(["abc"], "x") }))

    expect(await several.json()).toEqual(["a", "b"])
    expect(await text.json()).toBe(btoa("abc"))
  })

  test("works through the gateway, with an envelope as the answer", async () => {
    const url = await served()
    const data = form({ title: "T", file: new File(["abc"], "a.txt") })

    const response = await post(`${url}/operations/files.upload`, data)

    expect(await response.json()).toMatchObject({ data: { title: "T" }, meta: { source: "local" } })
  })

  test("streams a file beyond maxBodyBytes up to maxUploadBytes", async () => {
    const url = await served({ maxBodyBytes: 1000, maxUploadBytes: 2_000_000 })
    const large = new Uint8Array(1_500_000).map((_, at) => at % 251)
    const data = form({ title: "T", file: new File([large], "large") })

    const inForm = await post(`${url}/api/files/upload`, data)
    const raw = await post(`${url}/api/files/upload?title=T`, large, {
      "content-type": "application/octet-stream",
    })

    const expected = { size: large.length, hash: hash(large), isWhole: false }
    expect(await inForm.json()).toMatchObject({ file: { ...expected, name: "large" } })
    expect(await raw.json()).toMatchObject({ file: expected })
  })

  test("refuses fields after a file that is streamed", async () => {
    const url = await served({ maxBodyBytes: 1000, maxUploadBytes: 100_000 })
    const data = form({ title: "T", file: new File([new Uint8Array(50_000)], "x"), count: "2" })

    const response = await post(`${url}/api/files/upload`, data)

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining("send the large file last"),
    })
  })

  test("refuses more than maxUploadBytes, declared or not, and bytes beyond maxBodyBytes", async () => {
    const url = await served({ maxBodyBytes: 1000, maxUploadBytes: 100_000 })
    const type = { "content-type": "application/octet-stream" }
    const stream = toFile(repeated(200_000)).stream()

    const declared = await post(`${url}/api/files/upload?title=T`, new Uint8Array(200_000), type)
    const undeclared = await post(`${url}/api/files/upload?title=T`, stream, type)
    const bytes = await post(`${url}/api/files/sum`, new Uint8Array(2000), type)

    expect([declared.status, undeclared.status, bytes.status]).toEqual([413, 413, 413])
  })

  test("keeps to maxBodyBytes where maxUploadBytes is not set", async () => {
    const url = await served({ maxBodyBytes: 1000 })

    const data = form({ title: "T", file: new File([new Uint8Array(1000)], "x") })

    expect((await post(`${url}/api/files/upload`, data)).status).toBe(413)
  })

  test("answers before the file was sent to its end if the handler does not read it", async () => {
    const url = await served({ maxBodyBytes: 1000, maxUploadBytes: 10_000_000 })
    const body = new Uint8Array(5_000_000)

    const response = await post(`${url}/api/files/ignore`, body, { "content-type": "a/b" })

    expect(await response.json()).toBe("not read")
    expect((await fetch(`${url}/operations`)).status).toBe(200)
  })

  test.each([
    ["text/plain", "/api/files/several"],
    ["application/x-www-form-urlencoded", "/api/files/several"],
    ["multipart/form-data; boundary=x", "/api/files/whole"],
    ["multipart/form-data; boundary=x", "/api/files/download"],
    ["multipart/form-data; boundary=x", "/batch"],
    ["nonsense", "/api/files/upload"],
  ])("refuses %s at %s", async (type, path) => {
    const url = await served()

    const response = await post(`${url}${path}`, "x", { "content-type": type })

    expect(response.status).toBe(415)
  })

  test.each([
    ["no boundary", "multipart/form-data", "--b\r\n\r\n"],
    [
      "headers of more than 16 kB in one chunk",
      "multipart/form-data; boundary=b",
      `--b\r\nContent-Disposition: form-data; name="title"\r\nX: ${"x".repeat(40_000)}\r\n\r\nA\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nB\r\n--b--\r\n`,
    ],
    ["an end before the last boundary", "multipart/form-data; boundary=b", "--b\r\nContent-Dis"],
    [
      "a part without a name",
      "multipart/form-data; boundary=b",
      "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
    ],
    [
      "headers without end",
      "multipart/form-data; boundary=b",
      `--b\r\nContent-Disposition: form-data; name="${"x".repeat(20_000)}`,
    ],
    [
      "a file that the operation does not have",
      "multipart/form-data; boundary=b",
      '--b\r\nContent-Disposition: form-data; name="title"; filename="x"\r\n\r\nx\r\n--b--',
    ],
    ["nothing", "multipart/form-data; boundary=b", ""],
  ])("answers a form with %s with 400", async (_, type, body) => {
    const url = await served()

    const response = await post(`${url}/api/files/upload`, body, { "content-type": type })

    expect(response.status).toBe(400)
  })

  test("removes folders and control characters from file names", async () => {
    const url = await served()
    const names = ["../../etc/passwd", "C:\\temp\\a.txt", "a\u0000b\u202egpj.exe", "..", "/"]

    const received: unknown[] = []
    for (const name of names) {
      const body =
        `--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--b\r\n` +
        `Content-Disposition: form-data; name="file"; filename="${name}"\r\n\r\nabc\r\n--b--\r\n`
      const answer = await post(`${url}/api/files/upload`, body, {
        "content-type": "multipart/form-data; boundary=b",
      })
      const { file } = (await answer.json()) as { file: { name: unknown } }
      received.push(file.name)
    }

    expect(received).toEqual(["passwd", "a.txt", "abgpj.exe", null, null])
  })

  test("refuses a form of a page elsewhere, also where cors allows all and a cookie would be sent", async () => {
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" }
    const data = (): FormData => form({ title: "T", file: new File(["abc"], "a") })
    const closed = await served()
    const open = await served({ cors: { origins: ["*"] } })

    const refused = await post(`${closed}/api/files/upload`, data(), foreign)
    const withCookie = await post(`${open}/api/files/upload`, data(), { ...foreign, cookie: "a=b" })

    expect([refused.status, withCookie.status]).toEqual([403, 415])
  })

  test("ends the handler when the client leaves in the middle", async () => {
    const limits = { maxBodyBytes: 1000, maxUploadBytes: 10_000_000, maxConcurrency: 1 }
    const url = await served(limits)
    const sending = request(`${url}/api/files/upload?title=T`, {
      method: "POST",
      headers: { "content-type": "a/b", "content-length": "5000000" },
    })
    sending.on("error", () => undefined)
    sending.write(new Uint8Array(100_000))
    await new Promise((resolve) =>
      sending.once("socket", (socket) => socket.once("drain", resolve)),
    )
    sending.destroy()

    // The only slot is free again.
    const data = form({ title: "T", file: new File(["abc"], "a") })
    await expect.poll(async () => (await post(`${url}/api/files/upload`, data)).status).toBe(200)
  })
})
