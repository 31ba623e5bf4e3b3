import { expect, test } from "vitest"
import { plainText } from "../../src/internal/plain-text.ts"

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

test("hostile texts take no long time", () => {
  for (const part of ["[", "<", "*a ", "_", "`", "<!--", "[](", "> "]) {
    expect(plainText(part.repeat(100_000)).length).toBeLessThanOrEqual(1000)
  }
})
