import { describe, expect, test } from "vitest"
import { createRegistry } from "../../src/index.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { operation } from "../support/operations.ts"

const LENGTH = 100_000

/** Texts for which a careless pattern tries every way to divide them. */
const TEXTS = [
  ...["a", "1", " ", ".", "-", "/", "%", ":", "@", "{", "[", "(", "~", "\u00e9", "\u{1f600}"],
  ...["a.", "a-", "1.", "1:", "a@", "%20", "a/", "{a}", "\ta", "P1", "::", "a b ", "aA1_"],
].flatMap((unit) => {
  const text = unit.repeat(LENGTH / unit.length)
  return [text, `${text}!`, `a@${text}`, `http://${text}!`, `${text}\n`]
})

const FORMATS = [
  ...["date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"],
  ...[
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "url",
    "uri-template",
    "uuid",
  ],
  ...["json-pointer", "relative-json-pointer", "json-pointer-uri-fragment", "regex"],
]

// A check whose work grows with the square of the length would not end within the time of a test.
describe("texts of 100,000 characters", () => {
  test.each(FORMATS)("are checked against the format %s", (format) => {
    const compiled = compileSchema({ type: "string", format }, { formats: true })
    for (const text of TEXTS) expect(typeof compiled.check(text)).toBe("boolean")
  })

  test("are searched for", () => {
    const registry = createRegistry([operation("task.create", { description: "Creates a task" })])
    for (const text of TEXTS) expect(Array.isArray(registry.search(text))).toBe(true)
  })
})
