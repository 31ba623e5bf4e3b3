import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { CallError } from "../../../src/core/errors.ts"
import { nodeFS } from "../../../src/node/fs.ts"
import {
  allowingEntry,
  allowReferences,
  createFileLoader,
  filePathOf,
  fileUrlOf,
} from "../../../src/sources/openapi/load-file.ts"
import { loadExternal } from "../../../src/sources/openapi/files.ts"
import type { ExternalFiles } from "../../../src/sources/openapi/files.ts"
import { createUrlLoader } from "../../../src/sources/openapi/load-url.ts"
import { parseDocument } from "../../../src/sources/openapi/parse.ts"
import { mentionsExternal } from "../../../src/sources/openapi/references.ts"
import fc from "fast-check"
import { runs } from "../../support/nightly.ts"

const corpus = resolve(import.meta.dirname, "../../../../shared/corpus/openapi")
const cleanUps: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

/** A folder with some files: path to text. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "openapi-files-"))
  cleanUps.push(() => rm(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** Loads what a document on disk refers to. */
async function loadFrom(
  path: string,
  list: readonly string[] = [],
  limits = {},
): Promise<ExternalFiles & { readonly names: string[]; readonly read: string[] }> {
  const url = fileUrlOf(path)
  const text = await nodeFS.readFile(path)
  const { document } = parseDocument(text)
  const allow = allowReferences(url, list)
  const read: string[] = []
  const load = createFileLoader(nodeFS, url, list)
  const loaded = await loadExternal(
    { document, url, text },
    (one) => {
      read.push(one)
      return load(one)
    },
    allow,
    limits,
  )
  const folder = new URL(".", url).href
  const names = [...loaded.documents.keys()].map((key) => key.replace(folder, ""))
  return { ...loaded, names: names.toSorted(), read }
}

/** One reason why nothing is loaded by a document that refers to `ref`. */
async function refusal(ref: string, list: readonly string[] = []): Promise<string | undefined> {
  const folder = await folderOf({
    "api/openapi.yaml": `openapi: 3.1.0\ncomponents: { schemas: { A: { $ref: ${JSON.stringify(ref)} } } }\n`,
    "secret.yaml": "secret: true\n",
  })
  const { refused, documents } = await loadFrom(join(folder, "api/openapi.yaml"), list)
  expect(documents.size).toBe(0)
  return [...refused.values()][0]
}

describe("loadExternal", () => {
  test("reads nothing and walks nothing when the text names no other file", async () => {
    const document = {
      get paths(): never {
        throw new Error("It was walked.")
      },
    }
    const { documents, refused } = await loadExternal(
      { document, url: "file:///api.json", text: '{"paths": {"$ref": "#/x"}}' },
      () => Promise.reject(new Error("It was read.")),
      () => true,
    )
    expect([documents.size, refused.size]).toEqual([0, 0])
  })

  test("loads each file once, through cycles, relative to the file that names it", async () => {
    const folder = await folderOf({
      "api.yaml": [
        "openapi: 3.1.0",
        "paths:",
        "  /a: { $ref: 'paths/a.yaml' }",
        "  /b: { $ref: './paths/a.yaml' }",
      ].join("\n"),
      "paths/a.yaml": "get: { parameters: [{ $ref: '../parts/all.json#/id' }] }\n",
      "parts/all.json": JSON.stringify({
        id: { name: "id", in: "query", schema: { $ref: "#/definitions/Id" } },
        definitions: {
          Id: { anyOf: [{ $ref: "deep/x.yaml#/X" }, { $ref: "../api.yaml#/paths" }] },
        },
        unused: { $ref: "nobody-asks-for-this.yaml" },
      }),
      "parts/deep/x.yaml":
        "X: { properties: { next: { $ref: '#/X' }, id: { $ref: ../all.json#/id } } }\n",
    })

    const { names, refused, read } = await loadFrom(join(folder, "api.yaml"))

    expect(names).toEqual(["parts/all.json", "parts/deep/x.yaml", "paths/a.yaml"])
    expect(read).toHaveLength(3)
    expect(refused.size).toBe(0)
  })

  test("finds references only where there are some", async () => {
    const folder = await folderOf({
      "api.json": JSON.stringify({
        openapi: "3.1.0",
        "x-extra": { $ref: "extension.yaml" },
        paths: {
          "/a": {
            get: {
              requestBody: {
                content: {
                  "application/json": {
                    example: { $ref: "example.yaml" },
                    examples: { one: { value: { $ref: "examples.yaml" } } },
                    schema: { default: { $ref: "default.yaml" }, enum: [{ $ref: "enum.yaml" }] },
                  },
                },
              },
              responses: { default: { $ref: "response.yaml" } },
            },
          },
        },
        components: {
          schemas: {
            example: { $ref: "schema-called-example.yaml" },
            Pet: {
              const: { $ref: "const.yaml" },
              properties: {
                default: { $ref: "property-called-default.yaml" },
                "x-real": { $ref: "property-called-x.yaml" },
                $ref: { $ref: "property-called-ref.yaml" },
              },
              discriminator: {
                propertyName: "kind",
                mapping: { dog: "dog.yaml", cat: "Cat", bird: "#/components/schemas/Bird" },
              },
            },
          },
        },
      }),
    })

    const { refused } = await loadFrom(join(folder, "api.json"))

    expect(
      [...refused.keys()].map((url) => url.slice(url.lastIndexOf("/") + 1)).toSorted(),
    ).toEqual([
      "dog.yaml",
      "property-called-default.yaml",
      "property-called-ref.yaml",
      "property-called-x.yaml",
      "response.yaml",
      "schema-called-example.yaml",
    ])
  })

  test("goes on when a file is missing or broken, and says which and why", async () => {
    const folder = await folderOf({
      "api.yaml":
        "openapi: 3.1.0\npaths: { /a: { $ref: no.yaml }, /b: { $ref: bad.yaml }, /c: { $ref: c.yaml } }\n",
      "bad.yaml": "a: [1\n",
      "c.yaml": "get: {}\n",
    })

    const { names, refused } = await loadFrom(join(folder, "api.yaml"))

    expect(names).toEqual(["c.yaml"])
    expect([...refused.values()].toSorted()).toEqual([
      expect.stringContaining('"bad.yaml" is neither JSON nor YAML'),
      expect.stringContaining("ENOENT"),
    ])
  })

  test("stops when loading is aborted", async () => {
    const aborted = new CallError("ABORTED", "Enough.")
    const loading = loadExternal(
      { document: { paths: { "/a": { $ref: "a.yaml" } } }, url: "file:///api.yaml" },
      () => Promise.reject(aborted),
      () => true,
    )
    await expect(loading).rejects.toBe(aborted)
  })

  test("holds its limits of files and of their size", async () => {
    const folder = await folderOf({
      "api.yaml":
        "openapi: 3.1.0\npaths: { /a: { $ref: a.yaml }, /b: { $ref: b.yaml }, /c: { $ref: c.yaml } }\n",
      "a.yaml": "get: {}\n",
      "b.yaml": "get: {}\n",
      "c.yaml": "get: {}\n",
    })
    const path = join(folder, "api.yaml")

    const few = await loadFrom(path, [], { files: 2 })
    const small = await loadFrom(path, [], { bytes: 20 })

    expect([few.documents.size, few.refused.size]).toEqual([2, 1])
    expect([...few.refused.values()][0]).toContain("more than 2 files")
    expect([...small.refused.values()][0]).toContain("too large together")
    expect(few.warnings).toEqual([
      'The document refers to more than 2 files: 1 file was not loaded, and the operations that need it are not complete. Raise "maxFiles" to load all.',
    ])
    expect(small.warnings).toEqual([
      'The files of the document have more than 20 characters together: 1 file was not loaded, and the operations that need it are not complete. Raise "maxDocumentBytes" to load all.',
    ])
  })

  test("ends although each file names a new one", async () => {
    let loads = 0
    const { refused } = await loadExternal(
      { document: { paths: { $ref: "0.yaml" } }, url: "file:///api.yaml" },
      () => Promise.resolve(`/a: { $ref: "${++loads}.yaml" }`),
      () => true,
    )
    expect(loads).toBe(10_000)
    expect([...refused.values()]).toEqual([expect.stringContaining("more than 10000 files")])
  })

  test("knows a document by its $self, and reads beside the file first", async () => {
    const folder = await folderOf({
      "api.yaml": [
        "openapi: 3.2.0",
        "$self: https://api.test/v1/openapi",
        "paths: { /a: { $ref: a.yaml }, /b: { $ref: 'https://api.test/v1/openapi#/paths/~1a' } }",
      ].join("\n"),
      "a.yaml": "get: {}\n",
    })

    const { names, refused } = await loadFrom(join(folder, "api.yaml"))

    expect(names).toEqual(["a.yaml", "https://api.test/v1/openapi"])
    expect(refused.size).toBe(0)
  })

  test("keeps `__proto__` in references and names harmless", async () => {
    const folder = await folderOf({
      "api.yaml":
        "openapi: 3.1.0\npaths: { __proto__: { $ref: 'a.yaml#/__proto__' }, /b: { $ref: a.yaml#/constructor/x } }\n",
      "a.yaml": "__proto__: { $ref: b.yaml }\n",
      "b.yaml": "get: {}\n",
    })

    expect((await loadFrom(join(folder, "api.yaml"))).names).toEqual(["a.yaml", "b.yaml"])
  })

  test("says which reference is no address", async () => {
    const { refused } = await loadExternal(
      {
        document: { paths: { "/a": { $ref: "http://[" }, "/b": { $ref: "a.yaml#/%zz" } } },
        url: "",
      },
      () => Promise.resolve("{}"),
      () => true,
    )
    expect([...refused.keys()]).toEqual(["a.yaml#/%zz", "http://["])
    expect(refused.get("http://[")).toContain("not a valid address")
  })

  test("looks at all of a file where a reference names an anchor or nothing that is there", async () => {
    const { documents } = await loadExternal(
      {
        document: { paths: { "/a": { $ref: "a.yaml#Pet" }, "/b": { $ref: "b.yaml#/%zz" } } },
        url: "file:///api.yaml",
      },
      (url) => Promise.resolve(url.endsWith("a.yaml") ? "x: { $ref: c.yaml }" : "y: { z: 1 }"),
      () => true,
    )
    expect([...documents.keys()].toSorted()).toEqual([
      "file:///a.yaml",
      "file:///b.yaml",
      "file:///c.yaml",
    ])
  })

  test("follows 100,000 levels of nesting without a stack", async () => {
    let schema: Record<string, unknown> = { $ref: "a.yaml" }
    for (let at = 0; at < 100_000; at++) schema = { items: schema }

    const { documents } = await loadExternal(
      { document: schema, url: "file:///api.yaml" },
      () => Promise.resolve("type: string"),
      () => true,
    )
    expect([...documents.keys()]).toEqual(["file:///a.yaml"])
  })
})

describe("what a document may read", () => {
  test.each([
    "file:///etc/passwd",
    "/etc/passwd",
    "../secret.yaml",
    "..\\secret.yaml",
    "%2e%2e/secret.yaml",
    "..%2fsecret.yaml",
    "..%5csecret.yaml",
    "a/../../secret.yaml",
    "file://attacker.test/share/x.yaml",
    "//attacker.test/x.yaml",
    "http://127.0.0.1/x.yaml",
    "http://169.254.169.254/latest/meta-data",
    "data:application/json,%7B%7D",
    "javascript:1",
    "x.yaml%00.json",
  ])("is not %s", async (ref) => {
    expect(await refusal(ref)).toContain("neither below the document's folder")
  })

  test("is not what a link leads to outside of its folder", async () => {
    const folder = await folderOf({
      "api/openapi.yaml":
        "openapi: 3.1.0\npaths: { /a: { $ref: link.yaml }, /b: { $ref: sub/b.yaml } }\n",
      "secret.yaml": "secret: true\n",
      "outside/b.yaml": "get: {}\n",
    })
    await symlink(join(folder, "secret.yaml"), join(folder, "api/link.yaml"))
    await symlink(join(folder, "outside"), join(folder, "api/sub"))

    const { documents, refused } = await loadFrom(join(folder, "api/openapi.yaml"))

    expect(documents.size).toBe(0)
    expect([...refused.values()]).toEqual([
      expect.stringContaining("leads out of the document's folder"),
      expect.stringContaining("leads out of the document's folder"),
    ])
  })

  test("is what its folder holds, when the folder itself is reached by a link", async () => {
    const folder = await folderOf({
      "real/openapi.yaml": "openapi: 3.1.0\npaths: { /a: { $ref: a.yaml } }\n",
      "real/a.yaml": "get: {}\n",
    })
    await symlink(join(folder, "real"), join(folder, "link"))

    expect((await loadFrom(join(folder, "link/openapi.yaml"))).names).toEqual(["a.yaml"])
  })

  test("is read without a check of links where a file system has none", async () => {
    const url = "file:///api/openapi.yaml"
    const load = createFileLoader({ readFile: (path) => Promise.resolve(`read ${path}`) }, url)
    expect(await load("file:///api/a%20b.yaml")).toBe("read /api/a b.yaml")
  })

  test.each(["../common/", "../common"])("may be a link to %s", async (entry) => {
    const folder = await folderOf({
      "api/openapi.yaml": "openapi: 3.1.0\npaths: { /a: { $ref: link.yaml } }\n",
      "common/a@1.yaml": "get: {}\n",
    })
    await symlink(join(folder, "common/a@1.yaml"), join(folder, "api/link.yaml"))

    expect((await loadFrom(join(folder, "api/openapi.yaml"), [entry])).names).toEqual(["link.yaml"])
  })

  test.each(["../common/", "../common"])(
    "is %s, when all of it is reached by a link",
    async (entry) => {
      const folder = await folderOf({
        "real/api/openapi.yaml": "openapi: 3.1.0\npaths: { /a: { $ref: ../common/a.yaml } }\n",
        "real/common/a.yaml": "get: {}\n",
      })
      await symlink(join(folder, "real"), join(folder, "link"))
      const { documents } = await loadFrom(join(folder, "link/api/openapi.yaml"), [entry])

      expect(documents.size).toBe(1)
    },
  )

  test("is what the user allows: folders, files, origins", () => {
    const may = allowReferences("file:///srv/api/openapi.yaml", [
      "../common/",
      "../one.yaml",
      "https://schemas.test",
      "https://other.test/v1/",
    ])

    expect(may("file:///srv/api/deep/x.yaml")).toBe(true)
    expect(may("file:///srv/common/x.yaml")).toBe(true)
    expect(may("file:///srv/one.yaml")).toBe(true)
    expect(may("https://schemas.test/any/x.yaml")).toBe(true)
    expect(may("https://other.test/v1/x.yaml")).toBe(true)
    expect(may("file:///srv/common-secret/x.yaml")).toBe(false)
    expect(may("file:///srv/one.yaml.bak")).toBe(false)
    expect(may("https://other.test/v2/x.yaml")).toBe(false)
    expect(may("https://other.test/v1/../v2/x.yaml")).toBe(false)
    expect(may("https://other.test/v1/..%2fv2/x.yaml")).toBe(false)
    expect(may("http://schemas.test/x.yaml")).toBe(false)
    expect(may("https://schemas.test.attacker.test/x.yaml")).toBe(false)
    expect(may("https://user@schemas.test/x.yaml")).toBe(false)
    expect(() => allowReferences("file:///a.yaml", ["ftp://x/"])).toThrow(TypeError)
  })

  test.each([
    ["../common", "file:///srv/common/x.yaml", true],
    ["../common", "file:///srv/common/deep/x.yaml", true],
    ["/srv/common", "file:///srv/common/x.yaml", true],
    ["..", "file:///srv/common/x.yaml", true],
    ["https://other.test/v1", "https://other.test/v1/x.yaml", true],
    ["https://other.test/v1?key=1", "https://other.test/v1?key=1", true],
    ["https://other.test/v1?key=1", "https://other.test/v1?key=2", false],
    ["../common", "file:///srv/common-secret/x.yaml", false],
    ["../common", "file:///srv/common/%2e%2e/x.yaml", false],
    ["../common", "file:///srv/common/..%2fx.yaml", false],
    ["../common", "file:///srv/x.yaml", false],
  ])("is a folder with or without a slash: %s, %s", (entry, url, expected) => {
    expect(allowReferences("file:///srv/api/openapi.yaml", [entry])(url)).toBe(expected)
  })

  test.each([
    ["/srv/api/deep/x.yaml", "deep/"],
    ["/srv/common/x.yaml", "../common/"],
    ["/srv/a b/x.yaml", "../a%20b/"],
    ["/x.yaml", "../../"],
    ["/srv/x.yaml", "../"],
    ["https://other.test/v1/x.yaml?key=secret", "https://other.test/v1/"],
    ["ftp://other.test/x.yaml", undefined],
    ["https://user:password@other.test/x.yaml", undefined],
    ["/srv/..%2fx/y.yaml", undefined],
  ])("is allowed by an entry that the report names: %s", (url, entry) => {
    const document = "file:///srv/api/openapi.yaml"
    const { href } = new URL(url, document)

    expect(allowingEntry(href, document)).toBe(entry)
    expect(allowReferences(document, entry === undefined ? [] : [entry])(href)).toBe(
      entry !== undefined,
    )
  })

  test("never leaves its folder, whatever the reference", () => {
    const part = fc.constantFrom(
      "..",
      ".",
      "/",
      "\\",
      "%2e",
      "%2F",
      "%5c",
      "a",
      "//",
      ":",
      "?",
      "#",
      "@",
      " ",
    )
    const may = allowReferences("file:///srv/api/openapi.yaml")
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const url = URL.canParse(parts.join(""), "file:///srv/api/openapi.yaml")
          ? new URL(parts.join(""), "file:///srv/api/openapi.yaml").href
          : "invalid"
        if (!may(url)) return
        expect(resolve(filePathOf(url)) + "/").toMatch(/^\/srv\/api\//)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe("fileUrlOf and filePathOf", () => {
  test.each([
    "/srv/a b/x.yaml",
    "/srv/100%/x#1?.yaml",
    "/srv/é/{id}.yaml",
    "/srv/a:b/c\\d.yaml",
    "/srv/[x]/\n.yaml",
  ])("go there and back: %j", (path) => {
    expect(filePathOf(fileUrlOf(path))).toBe(path)
  })

  test("know no other addresses than those of files", () => {
    expect(() => filePathOf("https://api.test/x.yaml")).toThrow(TypeError)
    expect(filePathOf("file://server/share/x.yaml")).toBe("//server/share/x.yaml")
  })

  test("understand Windows' paths and working folders", () => {
    expect(fileUrlOf("C:\\api\\x.yaml")).toBe("file:///C:/api/x.yaml")
    expect(filePathOf("file:///C:/api/x.yaml")).toBe("C:/api/x.yaml")
    expect(fileUrlOf("x:1.yaml", "/srv/api")).toBe("file:///srv/api/x:1.yaml")
    expect(fileUrlOf("../x.yaml", "/srv/api/")).toBe("file:///srv/x.yaml")
    expect(fileUrlOf("x.yaml", "C:\\api")).toBe("file:///C:/api/x.yaml")
  })
})

describe("createUrlLoader", () => {
  async function serve(handler: Parameters<typeof createServer>[1]): Promise<string> {
    const server: Server = createServer(handler as never)
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    cleanUps.push(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test("reads a document and the files beside it", async () => {
    const origin = await serve((request, response) => {
      response.end(
        request.url === "/api/a.yaml"
          ? "get: {}"
          : "\uFEFFopenapi: 3.1.0\npaths: { /é: { $ref: a.yaml } }\n",
      )
    })
    const url = `${origin}/api/openapi.yaml`
    const allow = allowReferences(url)
    const load = createUrlLoader({ fetch, allow })
    const text = await load(url)
    const { documents } = await loadExternal({ ...parseDocument(text), url, text }, load, allow)

    expect([...documents.keys()]).toEqual([`${origin}/api/a.yaml`])
  })

  test("does not follow a redirect to where it may not go; that host sees nothing", async () => {
    let seen = 0
    const other = await serve((_request, response) => {
      seen++
      response.end("{}")
    })
    const origin = await serve((_request, response) => {
      response.writeHead(302, { location: `${other}/x.yaml?key=canary` }).end()
    })
    const load = createUrlLoader({ fetch, allow: allowReferences(`${origin}/openapi.yaml`) })

    const error = await load(`${origin}/openapi.yaml`).catch((thrown: CallError) => thrown)

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(String(error)).toContain(other)
    expect(String(error)).not.toContain("canary")
    expect(seen).toBe(0)
  })

  test("follows redirects where it may go, without the caller's headers on another origin", async () => {
    const headers: unknown[] = []
    const other = await serve((request, response) => {
      headers.push(request.headers["x-key"])
      response.end("there")
    })
    const origin = await serve((request, response) => {
      headers.push(request.headers["x-key"])
      response.writeHead(307, { location: request.url === "/a" ? "/b" : `${other}/c` }).end()
    })
    const load = createUrlLoader({ fetch, allow: () => true, headers: { "x-key": "k" } })

    expect(await load(`${origin}/a`)).toBe("there")
    expect(headers).toEqual(["k", "k", undefined])
  })

  test("gives up on a circle, a refusal, a body without end and a dead peer", async () => {
    const origin = await serve((request, response) => {
      if (request.url === "/circle") response.writeHead(302, { location: "/circle" }).end()
      else if (request.url?.startsWith("/none") === true) response.writeHead(404).end("no")
      else if (request.url === "/reset") request.socket.destroy()
      else response.on("error", () => {}).write("a".repeat(200_000))
    })
    const load = createUrlLoader({ fetch, allow: () => true, maxBytes: 100_000 })

    await expect(load(`${origin}/circle`)).rejects.toThrow("redirects more than 5 times")
    await expect(load(`${origin}/none?key=canary`)).rejects.toThrow(/\/none answered 404 Not Found/)
    await expect(load(`${origin}/large`)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    await expect(load(`${origin}/reset`)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    await expect(load("file:///etc/passwd")).rejects.toMatchObject({ code: "EGRESS_BLOCKED" })
  })

  test("ends when it is aborted, also in the middle of a body", async () => {
    const controller = new AbortController()
    const origin = await serve((_request, response) => {
      response.write("openapi:")
      setTimeout(() => controller.abort(), 20)
    })
    const load = createUrlLoader({ fetch, allow: () => true, signal: controller.signal })

    await expect(load(origin)).rejects.toMatchObject({ code: "ABORTED" })
  })
})

describe("mentionsExternal", () => {
  test.each([
    ['{"$ref":"a.json"}', true],
    ['{"$ref" : "a.json"}', true],
    ["$ref: a.yaml", true],
    ["'$ref': 'a.yaml'", true],
    ['"$ref":\n  "a.yaml"', true],
    ["$ref: >-\n  a.yaml", true],
    ['{"$ref":"#/a"}', false],
    ['{"$ref": {"type": "string"}}', false],
    ["$ref:\n  type: string", false],
    ["$ref: '#/a'", false],
    ['$ref:   "#/a"', false],
  ])("%j: %s", (text, expected) => {
    expect(mentionsExternal(text)).toBe(expected)
  })
})

describe.skipIf(!existsSync(corpus))("documents of several files", () => {
  test("the café loads completely", async () => {
    const { documents, refused } = await loadFrom(join(corpus, "redocly-cafe-split/cafe.yaml"))
    expect([documents.size, refused.size]).toEqual([39, 0])
  })

  test("the separate pet store needs its parent's folder allowed", async () => {
    const path = join(corpus, "oai-learn-petstore-separate/spec/swagger.json")

    expect((await loadFrom(path)).refused.size).toBe(1)
    const { names, refused } = await loadFrom(path, ["../common/"])
    expect(names).toHaveLength(4)
    expect(refused.size).toBe(0)
  })
})
