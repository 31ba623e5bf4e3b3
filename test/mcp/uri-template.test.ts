import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseUriTemplate, type TemplateValue } from "../../src/mcp/uri-template.ts"
import { TOO_LONG } from "../support/patience.ts"
import { runs } from "../support/nightly.ts"
import { codePoint } from "../support/code-point.ts"

// The values of the examples in RFC 6570.
const VALUES: Record<string, TemplateValue> = {
  var: "value",
  hello: "Hello World!",
  half: "50%",
  empty: "",
  path: "/foo/bar",
  x: "1024",
  y: "768",
  who: "fred",
  list: ["red", "green", "blue"],
}

function expand(template: string, values: Record<string, TemplateValue> = VALUES): string {
  const parsed = parseUriTemplate(template)
  if (typeof parsed === "string") throw new Error(parsed)
  return parsed.expand(values)
}

describe("parseUriTemplate", () => {
  test.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["X{#var}", "X#value"],
    ["X{#hello}", "X#Hello%20World!"],
    ["map?{x,y}", "map?1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["X{.var}", "X.value"],
    ["X{.x,y}", "X.1024.768"],
    ["{/var}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{?undef}", ""],
    ["{var:3}", "val"],
    ["{list}", "red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?list}", "?list=red,green,blue"],
    ["file:///{path}", "file:///%2Ffoo%2Fbar"],
    ["a b/ü/%20", "a%20b/%C3%BC/%20"],
  ])("%s is %s", (template, uri) => {
    expect(expand(template)).toBe(uri)
  })

  test("a value cannot leave its place", () => {
    expect(expand("file:///docs/{name}", { name: "../../etc/passwd?x#y" })).toBe(
      "file:///docs/..%2F..%2Fetc%2Fpasswd%3Fx%23y",
    )
    expect(expand("{a}", JSON.parse('{"a":"\\ud800"}') as Record<string, string>)).toBe("%EF%BF%BD")
  })

  test("inherited names are no values", () => {
    expect(expand("x{toString}{constructor}", {})).toBe("x")
  })

  test("tells its variables, and which of them leave a hole", () => {
    expect(parseUriTemplate("db://{table}/{+rest}{/id}{?q*,table}")).toMatchObject({
      variables: [
        { name: "table", isRequired: true },
        { name: "rest", isRequired: true },
        { name: "id", isRequired: false },
        { name: "q", isRequired: false, isExploded: true },
      ],
    })
  })

  test.each([
    ["{", "without a"],
    ["a}", "without a"],
    ["{}", "not an expression"],
    ["{a b}", "not an expression"],
    ["{a,}", "not an expression"],
    ["{a:0}", "not an expression"],
    ["{a:3*}", "not an expression"],
    ["{=a}", "is reserved"],
    ["{!a}", "is reserved"],
    ["x".repeat(9000), "longer"],
    [Array.from({ length: 101 }, (_, i) => `{v${i}}`).join(""), "more than 100"],
  ])("refuses %s", (template, why) => {
    expect(parseUriTemplate(template)).toEqual(expect.stringContaining(why))
  })

  test("is done in no time, whatever it is given", () => {
    const nasty = fc.stringMatching(/^[{}+#./;?&a,:*0-9%]{0,200}$/)
    fc.assert(
      fc.property(nasty, fc.string(), (template, value) => {
        const parsed = parseUriTemplate(template)
        if (typeof parsed === "string") return
        expect(parsed.expand({ a: value })).toMatch(/^[\w.~:/?#[\]@!$&'()*+,;=%-]*$/)
      }),
    )
    const started = performance.now()
    parseUriTemplate("{".repeat(8000))
    parseUriTemplate(`{${"a,".repeat(4000)}}`)
    expect(performance.now() - started).toBeLessThan(TOO_LONG)
  })
})

describe("UriTemplate.match", () => {
  function match(template: string, uri: string): unknown {
    const parsed = parseUriTemplate(template)
    if (typeof parsed === "string") throw new Error(parsed)
    return parsed.match(uri)
  }

  test.each([
    ["note://{id}", "note://7", { id: "7" }],
    ["note://{id}", "note://a%2fb", { id: "a/b" }],
    ["note://{id}", "note://%F0%9F%98%80", { id: "😀" }],
    ["demo://{kind}/blob/{id}", "demo://x/blob/1", { kind: "x", id: "1" }],
    ["file:///{+path}", "file:///a/b%20c.txt", { path: "a/b%20c.txt" }],
    ["file://{+path}/info", "file://a/info/b/info", { path: "a/info/b" }],
    ["a{/one,two}", "a/1/2", { one: "1", two: "2" }],
    ["a{/one}{?q,r}", "a/1?q=2&r=%26", { one: "1", q: "2", r: "&" }],
    ["a{/one}{?q}", "a", {}],
    ["a{?list*}", "a?list=1&list=2", { list: ["1", "2"] }],
    ["a://{x}", "a://", { x: "" }],
    ["a://{__proto__}", "a://1", JSON.parse('{"__proto__":"1"}')],
  ])("of %s reads %s", (template, uri, values) => {
    expect(match(template, uri)).toEqual(values)
  })

  test.each([
    ["note://{id}", "note://a/b"],
    ["note://{id}", "note://a?b"],
    ["note://{id}", "note://%"],
    ["note://{id}", "Note://1"],
    ["note://{id}/x", "note://1"],
    ["a{?q}", "a?r=1"],
    ["{a}{b}", "12?"],
    ["note://{id}", `note://${"x".repeat(70_000)}`],
  ])("of %s does not take %s", (template, uri) => {
    expect(match(template, uri)).toBeUndefined()
  })

  test("reads only values that expand to the URI", () => {
    const piece = fc.constantFrom(
      "{a}",
      "{+b}",
      "{/c}",
      "{?d,e}",
      "{#f*}",
      "x",
      "/y/",
      "%41",
      "{g:2}",
    )
    const text = fc.string({ unit: codePoint, maxLength: 8 })
    const values = fc.record({ a: text, b: text, c: text, d: text, e: text, f: text, g: text })
    const template = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(template, values, fc.webUrl(), (written, given, other) => {
        const parsed = parseUriTemplate(written)
        if (typeof parsed === "string") return
        for (const uri of [parsed.expand(given), other]) {
          const read = parsed.match(uri)
          if (read === undefined) continue
          expect(decodeURI(parsed.expand(read))).toBe(decodeURI(uri))
        }
      }),
      { numRuns: runs(40) },
    )
  })

  test("always reads back a path segment", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (id) => {
        expect(
          match(
            "note://{id}/x",
            `note://${encodeURIComponent(id).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}/x`,
          ),
        ).toEqual({ id })
      }),
    )
  })

  test("takes no time for hostile templates and addresses", () => {
    const started = performance.now()
    const many = Array.from({ length: 100 }, (_, i) => `{v${i}}`).join("")
    for (const uri of ["a".repeat(65_000), "a,".repeat(30_000), "%".repeat(65_000)]) {
      for (const template of [many, "{?a*}", "{a*}", "x{+a}x{+b}x", "{/a*}"]) match(template, uri)
      match("{?a*}", `?${"a=&".repeat(20_000)}`)
    }
    expect(performance.now() - started).toBeLessThan(TOO_LONG)
  })
})
