import { expect, test } from "vitest"
import { plainText, withoutHTML } from "../../src/internal/plain-text.ts"

test.for([
  ["<p>Creates a <b>refund</b>.</p>\n<p>Then more.</p>", "Creates a refund. Then more."],
  [
    "_NOTE: Only users_ with **push** access to `.git`",
    "NOTE: Only users with push access to .git",
  ],
  ["# Title\n\n- one\n- two", "Title one two"],
  ["See [the docs](https://a.example/x) &amp; more", "See the docs & more"],
  ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
  ["<p>cut <a href=", "cut"],
])("%s is %s in a list", ([given, shown]) => {
  expect(plainText(given as string)).toBe(shown)
})

test.for([
  [
    "<p>Creates a <b>refund</b>.</p>\n\n<p>Then:</p><ul><li>more</li></ul>",
    "Creates a refund.\n\nThen:\n\nmore",
  ],
  ["Gives `Map<string>` of <owner>, 1 < 2", "Gives `Map<string>` of <owner>, 1 < 2"],
  ["<code>a &lt; b</code>", "a < b"],
  ["  indented\n    code", "  indented\n    code"],
])("%j is %j without HTML", ([given, shown]) => {
  expect(withoutHTML(given as string)).toBe(shown)
})

test("hostile texts take no long time", () => {
  for (const part of ["[", "<", "*a ", "_", "`", "<!--", "[](", "> "]) {
    expect(plainText(part.repeat(100_000)).length).toBeLessThanOrEqual(1000)
    withoutHTML(`<p>${part.repeat(100_000)}`)
  }
})
