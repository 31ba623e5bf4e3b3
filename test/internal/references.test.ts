import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseReferences } from "../../src/internal/references.ts"

describe("parseReferences", () => {
  test.each<[string, readonly unknown[]]>([
    ["", []],
    ["plain", [{ kind: "text", text: "plain" }]],
    ["${env:A}", [{ kind: "env", name: "A", fallback: undefined }]],
    ["${A:-x}", [{ kind: "env", name: "A", fallback: "x" }]],
    ["${env:A:-}", [{ kind: "env", name: "A", fallback: "" }]],
    ["${env:A:-${env:B}}", [{ kind: "env", name: "A", fallback: "${env:B}" }]],
    [
      "Bearer ${file: ./t } ",
      [
        { kind: "text", text: "Bearer " },
        { kind: "file", name: "./t" },
        { kind: "text", text: " " },
      ],
    ],
    ['${command:node -e "f({})"}', [{ kind: "command", name: 'node -e "f({})"' }]],
    ["$${env:A}", [{ kind: "text", text: "${env:A}" }]],
    ["pa$$word $5 ${} ${a b} }", [{ kind: "text", text: "pa$$word $5 ${} ${a b} }" }]],
    ["${vault:x}", [{ kind: "unknown", name: "vault", rest: "x" }]],
    [
      "a${env:A",
      [
        { kind: "text", text: "a" },
        { kind: "open", name: "env" },
      ],
    ],
    ["${userHome}", [{ kind: "place", name: "userHome" }]],
  ])("%s", (text, parts) => {
    expect(parseReferences(text)).toEqual(parts)
  })

  test("a text without a dollar sign is itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!text.includes("$") && text !== "")
        expect(parseReferences(text)).toEqual([{ kind: "text", text }])
      }),
    )
  })

  test("a large text with many braces takes no time to speak of", () => {
    const text = "${".repeat(20_000)
    expect(parseReferences(text)).toEqual([{ kind: "text", text }])
  })

  test("files of editors escape nothing, and what is not closed is text", () => {
    expect(parseReferences("$${A} ${env:B", true)).toEqual([
      { kind: "text", text: "$" },
      { kind: "env", name: "A", fallback: undefined },
      { kind: "text", text: " ${env:B" },
    ])
  })
})
