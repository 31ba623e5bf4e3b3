import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isCallError } from "../../../../src/core/errors.ts"
import type { ParameterModel } from "../../../../src/sources/openapi/model.ts"
import { buildRequest } from "../../../../src/sources/openapi/request/build.ts"
import { joinUrl } from "../../../../src/sources/openapi/request/path.ts"
import { parameterOf, planOf } from "./plan.ts"
import { runs } from "../../../support/nightly.ts"

const BASE = "https://api.test/v1"

describe("a path template", () => {
  test.each([
    ["/pets/{id}", { id: "a b" }, "/pets/a%20b"],
    ["/{Sid}.json", { Sid: "A1" }, "/A1.json"],
    ["/compare/{base}...{head}", { base: "main", head: "x/y" }, "/compare/main...x%2Fy"],
    ["/f(x={x},y='{y}')", { x: 1, y: "it's" }, "/f(x=1,y='it%27s')"],
    ["/{id}/copy-of-{id}", { id: 7 }, "/7/copy-of-7"],
    ["/v1/{name}:cancel", { name: "op" }, "/v1/op:cancel"],
    ["/a/", {}, "/a/"],
    ["/café/a b", {}, "/caf%C3%A9/a%20b"],
    ["/a%20b/%zz", {}, "/a%20b/%25zz"],
    ["/{}/{{id}}", { id: "x" }, "/%7B%7D/%7Bx%7D"],
    ["no-slash", {}, "/no-slash"],
    ["/folders/{id}#update", { id: 1 }, "/folders/1"],
    ["/a#b?c", {}, "/a"],
    ["/items?beta=true", {}, "/items?beta=true"],
    ["/items/{id}?a={id}&b=1#x", { id: "p&q" }, "/items/p%26q?a=p%26q&b=1"],
    ["/x/{__proto__}", JSON.parse('{"__proto__":"p"}') as Record<string, unknown>, "/x/p"],
    ["/x/{constructor}", { constructor: "c" }, "/x/c"],
  ])("%s", (path, input, expected) => {
    expect(urlOf(path, input)).toBe(`https://api.test/v1${expected}`)
  })

  test("keeps its own query before parameters, and does not repeat what it says already", () => {
    const parameters = [parameterOf("query", "beta"), parameterOf("query", "q")]
    const plan = planOf({ path: "/r?beta=true", parameters })

    const { url } = buildRequest(plan, { beta: "true", q: 1 }, { base: BASE })

    expect(url).toBe(`${BASE}/r?beta=true&q=1`)
  })

  test("fills a query variable from a query parameter, and drops it when that is not given", () => {
    const plan = planOf({ path: "/r?n={n}&z=1", parameters: [parameterOf("query", "n")] })

    expect(buildRequest(plan, { n: [1, 2] }, { base: BASE }).url).toBe(`${BASE}/r?n=1,2&z=1`)
    expect(buildRequest(plan, {}, { base: BASE }).url).toBe(`${BASE}/r?z=1`)
  })

  test("a slash at the end of the base is harmless", () => {
    for (const base of ["https://api.test", "https://api.test/", "https://api.test//"]) {
      expect(buildRequest(planOf({ path: "/a" }), {}, { base }).url).toBe("https://api.test/a")
    }
  })

  test("a variable that nobody declares is said to be missing from the document", () => {
    expect(() => buildRequest(planOf({ path: "/{id}" }), { id: 1 }, { base: BASE })).toThrow(
      'Operation "demo.op" cannot be sent: no path parameter is declared for "{id}" in "/{id}".',
    )
  })
})

describe("values that would leave their segment", () => {
  test.each([
    ["OA1", "../../admin/delete-all", "..%2F..%2Fadmin%2Fdelete-all"],
    ["encoded once", "..%2f..%2fadmin", "..%252f..%252fadmin"],
    ["encoded dots", "%2e%2e", "%252e%252e"],
    ["backslash", "..\\admin", "..%5Cadmin"],
    ["OA4", "x?admin=1#", "x%3Fadmin%3D1%23"],
    ["semicolon", "a;b=c", "a%3Bb%3Dc"],
    ["tab between dots", ".\t.", ".%09."],
    ["NUL", "a\0b", "a%00b"],
    ["full-width dots", "．．", "%EF%BC%8E%EF%BC%8E"],
    ["three dots", "...", "..."],
    ["an object", { a: 1 }, "a,1"],
  ])("%s is one segment", (_what, id, expected) => {
    expect(urlOf("/items/{id}", { id })).toBe(`${BASE}/items/${expected}`)
  })

  test.each([
    ["/items/{id}", { id: ".." }],
    ["/items/{id}", { id: "." }],
    ["/items/{id}/x", { id: ["."] }],
    ["/items/{a}{b}", { a: ".", b: "." }],
    ["/items/.{a}", { a: "." }],
    ["/items/%2e{a}", { a: "." }],
    ["/items/{a}%2E", { a: "." }],
    ["/../x", {}],
    ["/a/%2e%2E/x", {}],
    ["/a/.%2e", {}],
    [".", {}],
  ])("%s with %j is refused", (path, input) => {
    expect(refusalOf(() => urlOf(path, input))).toMatch(/leads to another resource/)
  })

  test("a label style parameter without text is a dot segment", () => {
    const id = parameterOf("path", "id", { style: "label" })
    const write = (value: unknown) => () =>
      buildRequest(planOf({ path: "/a/{id}", parameters: [id] }), { id: value }, { base: BASE })

    expect(refusalOf(write(""))).toMatch(/leads to another resource/)
    expect(refusalOf(write("."))).toMatch(/leads to another resource/)
    expect(write("x")().url).toBe(`${BASE}/a/.x`)
  })

  test.each(["a/../b", "..", "a/%2e%2e/b", "..%2fadmin", "a%5c..", "./a"])(
    "with allowReserved %s is refused all the same",
    (id) => {
      expect(refusalOf(() => urlOf("/items/{id}", { id }, { allowReserved: true }))).toMatch(
        /leads to another resource/,
      )
    },
  )

  test("with allowReserved a slash stays", () => {
    expect(urlOf("/items/{id}", { id: "a/b c?#" }, { allowReserved: true })).toBe(
      `${BASE}/items/a/b%20c%3F%23`,
    )
  })

  test.each([
    ["empty text", "", "is empty"],
    ["nothing", undefined, "is missing"],
    ["null", null, "is missing"],
    ["an empty list", [], "is missing"],
    ["an empty object", {}, "is missing"],
    ["half a character", "\udc22", "surrogate"],
    ["bytes", new Uint8Array(1), "raw bytes"],
  ])("%s is refused by name", (_what, id, reason) => {
    const message = refusalOf(() => urlOf("/items/{id}", { id }))

    expect(message).toContain('path parameter "id"')
    expect(message).toContain(reason)
  })

  test("an inherited property is no value", () => {
    expect(refusalOf(() => urlOf("/{toString}", {}, {}))).toContain("is missing")
  })
})

describe("paths of a document", () => {
  // OA7
  test.each([
    "@evil.test/x",
    "//evil.test",
    "//evil.test/x",
    "\\\\evil.test",
    "/\\evil.test",
    ".evil.test",
    ":80/x",
    "https://evil.test/x",
    "\t//evil.test",
    "?x@evil.test",
    "#@evil.test",
    "",
  ])("%j stays below the base", (path) => {
    for (const base of ["https://api.test", BASE]) {
      const { url } = buildRequest(planOf({ path }), {}, { base })

      expect(new URL(url).origin).toBe("https://api.test")
      expect(url.startsWith(`${base}/`)).toBe(true)
    }
  })

  test("a path that the URL parser reads in another way is refused at last", () => {
    for (const path of [
      "/../x",
      "/a/%2e%2E/b",
      "@evil.test",
      ".evil.test",
      ":80/",
      "/a\\b",
      "/a b",
    ]) {
      expect(refusalOf(() => joinUrl("demo.op", BASE, path, ""))).toContain("does not stay below")
    }
    expect(joinUrl("demo.op", BASE, "/x", "a=1")).toBe(`${BASE}/x?a=1`)
  })

  test("no template and no value leaves the base", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."/ // \\ . .. %2e %2E%2e %2f %5c @ : ? # & = ; {a} {b} {a}{b} {a}.{b} evil.test http:// \t \n %".split(
          " ",
        ),
      ),
      fc.string({ unit: "grapheme", maxLength: 3 }),
    )
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
    const style = fc.constantFrom("simple" as const, "label" as const, "matrix" as const)
    const base = fc.constantFrom(
      "https://api.test",
      "http://api.test:8080/v1",
      "https://[::1]/a/b/",
    )
    fc.assert(
      fc.property(text, text, text, style, fc.boolean(), base, (path, a, b, how, raw, root) => {
        const parts = { style: how, allowReserved: raw }
        const parameters = [parameterOf("path", "a", parts), parameterOf("path", "b", parts)]
        const plan = planOf({ path, parameters })
        const written = attempt(() => buildRequest(plan, { a, b }, { base: root }).url)
        fc.pre(written !== undefined)
        const url = new URL(written)
        const prefix = new URL(root).pathname.replace(/\/$/, "")
        const rest = url.pathname.slice(prefix.length + 1)
        // What is one segment in the template is one in the URL.
        const slashes = raw ? 0 : (path.split(/[?#]/)[0]?.replace(/^\//, "").split("/").length ?? 0)

        expect(url.href).toBe(written)
        expect(url.origin).toBe(new URL(root).origin)
        expect(url.hash + url.username + url.password).toBe("")
        expect(url.pathname.startsWith(`${prefix}/`)).toBe(true)
        expect(raw ? 0 : rest.split("/").length).toBe(slashes)
      }),
      { numRuns: runs(400) },
    )
  })
})

function urlOf(
  path: string,
  input: Readonly<Record<string, unknown>>,
  parts: Partial<ParameterModel> = {},
): string {
  const names = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name))
  const parameters = [...names].map((name) => parameterOf("path", name, parts))
  return buildRequest(planOf({ path, parameters }), input, { base: BASE }).url
}

/** What was written; `undefined` for a clean refusal. */
function attempt(write: () => string): string | undefined {
  try {
    return write()
  } catch (thrown) {
    if (isCallError(thrown, "VALIDATION_ERROR")) return undefined
    throw thrown
  }
}

function refusalOf(write: () => unknown): string {
  try {
    write()
  } catch (thrown) {
    if (isCallError(thrown, "VALIDATION_ERROR")) return thrown.message
    throw thrown
  }
  throw new Error("nothing was refused")
}
