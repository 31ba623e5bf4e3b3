import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseUriTemplate, type TemplateValue } from "../../../../src/sources/mcp/uri-template.ts"
import { TOO_LONG } from "../../../support/patience.ts"

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
