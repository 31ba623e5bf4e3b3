import { expect, test } from "vitest"
import { looksLikeMarkdown } from "../../../console/src/result/looks-like-markdown.ts"

test.each([
  "# Title",
  "Some words\n\n## Part\n",
  "- one\n- two",
  "1. one\n2. two",
  "```sh\nls\n```",
  "| a | b |\n| - | - |\n| 1 | 2 |",
  "see [the page](https://example.com/a)",
  "this is **important**",
])("looksLikeMarkdown takes %j for Markdown", (text) => {
  expect(looksLikeMarkdown(text)).toBe(true)
})

test.each([
  "",
  "Plain words.",
  "two\nlines",
  "2 * 3 * 4",
  "#!/bin/sh\nls",
  "#hashtag",
  "- a single dash",
  '{ "a": "**b**" }',
  "[1, 2]",
  "<p>**x**</p>",
  "snake_case_name and __init__",
])("looksLikeMarkdown takes %j for plain text", (text) => {
  expect(looksLikeMarkdown(text)).toBe(false)
})

test.each(["*".repeat(20_000), "[".repeat(20_000), " ".repeat(20_000), "- a ".repeat(5000)])(
  "looksLikeMarkdown reads long texts without trying every way",
  (text) => {
    expect(looksLikeMarkdown(text)).toBe(false)
  },
)
