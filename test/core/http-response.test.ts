import { describe, expect, test } from "vitest"
import { httpResponse } from "../../src/index.ts"
import type { CookieOptions, HTTPResponse } from "../../src/index.ts"

const open = (): HTTPResponse => httpResponse.read({})

/** The attributes of the only cookie. */
function attributes(name: string, value: string, options?: CookieOptions): string {
  const response = open()
  response.setCookie(name, value, options)
  return response.headers.getSetCookie().join("\n")
}

describe("httpResponse", () => {
  test("is there for everything that may be a context", () => {
    for (const context of [{}, { metadata: undefined }, { metadata: { httpResponse: "x" } }]) {
      const response = httpResponse.read(context)
      response.status = 201
      response.headers.append("x-a", "1")
      response.setCookie("a", "b")
      expect(httpResponse.read(context).status).toBeUndefined()
    }
  })

  test.each([100, 199, 400, 401, 500, 600, 200.5, Number.NaN, "200", null, {}, 1n])(
    "refuses the status %s",
    (status) => {
      expect(() => {
        open().status = status as number
      }).toThrow(/status must be a whole number from 200 to 399.*throw a CallError/s)
    },
  )

  test.each([200, 201, 204, 299, 301, 304, 399, undefined])("takes the status %s", (status) => {
    const response = open()
    response.status = status
    expect(response.status).toBe(status)
  })

  test.each(["", " ", "a b", "a\r\nset-cookie: x=1", "é", ":status", "a:b", "x\0", 1, undefined])(
    "refuses the name %j of a header",
    (name) => {
      for (const method of ["set", "append", "delete"] as const) {
        expect(() => open().headers[method](name as string, "v")).toThrow(TypeError)
        expect(() => open().headers[method](name as string, "v")).toThrow(/is not the name/)
      }
    },
  )

  test.each(["a\r\nset-cookie: x=1", "a\nb", "a\rb", "\n", "a\0", "\u{1f36a}", "ā"])(
    "refuses the value %j of a header, and does not repeat it",
    (value) => {
      const text = /the value of the header "x-token" has a line break, or/
      expect(() => open().headers.set("x-token", value)).toThrow(text)
      expect(() => open().headers.append("set-cookie", value)).toThrow(TypeError)
    },
  )

  test.each([
    ...["Content-Length", "transfer-encoding", "Connection", "keep-alive", "upgrade", "trailer"],
    ...["content-type", "content-encoding", "content-disposition", "Content-Security-Policy"],
    ...["content-security-policy-report-only", "x-content-type-options", "request-id", "date"],
    ...["access-control-allow-origin", "Access-Control-Allow-Credentials", "proxy-authenticate"],
    "cross-origin-resource-policy",
  ])("leaves the header %s to the server", (name) => {
    expect(() => open().headers.set(name, "1")).toThrow(`the server sets the header "${name}"`)
  })

  test("takes names that are properties of objects", () => {
    const { headers } = open()
    for (const name of ["__proto__", "constructor", "toString"]) headers.set(name, "1")
    expect([...headers].map(([name]) => name)).toEqual(["__proto__", "constructor", "tostring"])
  })
})

describe("a cookie", () => {
  test("is safe by default", () => {
    expect(attributes("sid", "abc")).toBe("sid=abc; Path=/; HttpOnly; Secure; SameSite=Lax")
  })

  test("has the attributes that it is given", () => {
    const expires = new Date(0)
    const all = { maxAge: 0, expires, path: "/a", domain: "example.com", httpOnly: false }
    expect(attributes("a", "b", { ...all, secure: false, sameSite: "strict" })).toBe(
      "a=b; Path=/a; Domain=example.com; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; SameSite=Strict",
    )
    expect(attributes("a", "b", { sameSite: "none", partitioned: true })).toBe(
      "a=b; Path=/; HttpOnly; Secure; SameSite=None; Partitioned",
    )
  })

  test("cannot break out of its value", () => {
    expect(attributes("a", "x; Domain=evil\r\nb: c, \u{1f36a}\0")).toBe(
      "a=x%3B%20Domain%3Devil%0D%0Ab%3A%20c%2C%20%F0%9F%8D%AA%00; Path=/; HttpOnly; Secure; SameSite=Lax",
    )
  })

  test("replaces the one with the same name, path and domain", () => {
    const response = open()
    response.headers.append("set-cookie", "raw=1; Path=/")
    response.setCookie("a", "1")
    response.setCookie("a", "1", { path: "/x" })
    response.setCookie("a", "2")
    response.setCookie("raw", "2")
    response.deleteCookie("a", { path: "/x" })
    expect(response.headers.getSetCookie().map((one) => one.slice(0, 19))).toEqual([
      "a=2; Path=/; HttpOn",
      "raw=2; Path=/; Http",
      "a=; Path=/x; Max-Ag",
    ])
  })

  test.each<[string, unknown, CookieOptions?]>([
    ["", "v"],
    ["a=b", "v"],
    ["a;b", "v"],
    ["a\r\n", "v"],
    ["é", "v"],
    ["a", 1],
    ["a", undefined],
    ["a", "\ud800"],
    ["a", "x".repeat(4095)],
    ["a", "v", { path: "x" }],
    ["a", "v", { path: "/;x" }],
    ["a", "v", { path: "/\r\n" }],
    ["a", "v", { domain: "a;b" }],
    ["a", "v", { domain: "" }],
    ["a", "v", { maxAge: 1.5 }],
    ["a", "v", { maxAge: Number.NaN }],
    ["a", "v", { expires: new Date(Number.NaN) }],
    ["a", "v", { sameSite: "Lax; x" as never }],
    ["a", "v", { sameSite: "none", secure: false }],
    ["__Host-a", "v", { path: "/x" }],
    ["__host-a", "v", { domain: "a.example" }],
    ["__Secure-a", "v", { secure: false }],
  ])("that a browser would not keep is refused: %j, %j, %j", (name, value, options) => {
    const set = (): void => open().setCookie(name, value as string, options)
    expect(set).toThrow(TypeError)
    expect(set).toThrow(/^setCookie\(/)
  })
})
