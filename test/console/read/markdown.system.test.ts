import { describe, expect, test } from "vitest"
import { isWebAddress, plainHtml, TAGS } from "../../../console/src/read/markdown/plain-html.ts"
import {
  isPlain,
  MAX_MARKDOWN,
  toHtml,
  toInlineHtml,
} from "../../../console/src/read/markdown/to-html.ts"

/** Every element and attribute that is left. */
function markup(html: string): readonly string[] {
  return [...html.matchAll(/<(\/?[a-z0-9]+)([^>]*)>/gi)].map(([, tag, rest]) =>
    `${tag}${rest}`.trim(),
  )
}

function expectHarmless(html: string): void {
  for (const [, name = "", rest = ""] of html.matchAll(/<\/?([^\s>]*)([^>]*)>/g)) {
    expect(TAGS).toContain(name.toLowerCase())
    expect(rest).toMatch(/^(?: href="(?:https?:\/\/|mailto:)[^"<>]*"| align="\w+"| start="\d+")*$/)
  }
}

describe("Markdown to HTML", () => {
  test("is what people write in descriptions", () => {
    const html = toHtml(
      "# Title\n\nA **bold** `word`, [a link](https://example.com/?a=1&b=2).\n\n- one\n",
    )
    expect(html).toContain("<h2>Title</h2>")
    expect(html).toContain("<strong>bold</strong> <code>word</code>")
    expect(html).toContain('<a href="https://example.com/?a=1&amp;b=2">a link</a>')
    expect(html).toContain("<li>one</li>")
    expectHarmless(html)
  })

  test("headings begin below that of the page, whatever they begin with", () => {
    expect(toHtml("### A\n\n#### B\n\n### C")).toBe("<h2>A</h2>\n<h3>B</h3>\n<h2>C</h2>\n")
    expect(toHtml("# A\n\n###### B")).toBe("<h2>A</h2>\n<h6>B</h6>\n")
  })

  test("alerts of GitHub are quotes with a word in front", () => {
    expect(toHtml("> [!NOTE]\n> Not for real-time use.")).toContain(
      "<strong>NOTE:</strong>\nNot for",
    )
  })

  test("tables, code and lists of tasks keep nothing that a page could load or run", () => {
    const html = toHtml(
      "|a|b|\n|:-|-:|\n|1|2|\n\n```html\n<script>x</script>\n```\n\n- [x] done\n3. x",
    )
    expect(html).toContain("&lt;script&gt;")
    expect(html).toContain("☑")
    expect(html).not.toContain("<input")
    expectHarmless(html)
  })

  test("pictures are links, and links elsewhere than the web are words", () => {
    expect(toHtml("![chart](https://example.com/x.png)")).toContain(
      '<a href="https://example.com/x.png">chart</a>',
    )
    for (const href of [
      "javascript:alert(1)",
      "/rest/users",
      "data:text/html,x",
      "#top",
      "vbscript:x",
    ]) {
      const html = toHtml(`[word](${href}) and ![](${href})`)
      expect(html).not.toContain("<a")
      expect(html).toContain("word")
    }
  })

  test("HTML of descriptions keeps its plain elements, without attributes", () => {
    expect(
      plainHtml(
        '<p class="x">One<br/>two <a href="https://example.com/?a=1&amp;b=2" onclick="x()">three</a></p>',
      ),
    ).toBe('<p>One<br>two <a href="https://example.com/?a=1&amp;b=2">three</a></p>')
    expect(plainHtml("<H1 style='x'>Big</H1>")).toBe("<h2>Big</h2>")
    expect(plainHtml("a < b <!-- gone --> & c")).toBe("a &lt; b  & c")
  })

  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<p style="background:url(https://evil.example)">x</p>',
    "<svg><script>alert(1)</script></svg>",
    "<svg/onload=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href="https://ok.example" onmouseover="alert(1)">x</a>',
    '<a href=" javascript:alert(1)">x</a>',
    '<a href=https://x.example/"><img src=x>',
    "<iframe src=https://evil.example></iframe>",
    "<style>*{display:none}</style>",
    "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
    "<form action=x><input name=y></form>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0>",
    '<p title="</p><img src=x onerror=alert(1)>">',
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<details open ontoggle=alert(1)>",
    "<custom-element>x</custom-element>",
    "`<img src=x onerror=alert(1)>`",
    "[<img src=x onerror=alert(1)>](https://example.com)",
    '[x](https://example.com/"onmouseover=alert(1))',
    '!["><img src=x onerror=alert(1)>](https://example.com)',
    '<https://example.com/"><img/src=x>',
    "[x]: javascript:alert(1)\n[x]",
    "&lt;img src=x onerror=alert(1)&gt;",
  ])("%s leaves nothing that could do anything", (text) => {
    expectHarmless(toHtml(text))
    expectHarmless(toInlineHtml(text))
    expectHarmless(toHtml(`# ${text}\n\n- ${text}\n\n| ${text} |\n|--|\n| ${text} |\n\n> ${text}`))
  })

  test("a text without an end is cut", () => {
    const html = toHtml(`${"word ".repeat(MAX_MARKDOWN)}END`)
    expect(html.length).toBeLessThan(MAX_MARKDOWN + 100)
    expect(html).not.toContain("END")
    expect(toInlineHtml("x".repeat(10_000)).length).toBeLessThan(2100)
  })

  test.each([
    "[",
    "<a ",
    "![](",
    "*_",
    "`",
    "> ",
    "- ",
    "<!--",
    "|",
    "\\",
    "&#",
    "**a",
    "<a href='",
  ])("%j over and over again comes to an end", (text) => {
    expectHarmless(toHtml(text.repeat(MAX_MARKDOWN / text.length)))
  })

  test("plain words need no parser", () => {
    expect(isPlain("Creates a task, and says so.")).toBe(true)
    for (const text of [
      "a *b*",
      "<b>",
      "a\n\nb",
      "- a",
      "1. a",
      "see https://x.example",
      "a_b",
      "&lt;",
    ]) {
      expect(isPlain(text)).toBe(false)
    }
  })

  test("addresses are those of the web, whole", () => {
    expect(isWebAddress("https://example.com/a?b#c")).toBe(true)
    expect(isWebAddress("mailto:ada@example.com")).toBe(true)
    for (const href of [
      "",
      "https://",
      "//example.com",
      "javascript:x",
      "https://a b",
      'https://a"b',
    ]) {
      expect(isWebAddress(href)).toBe(false)
    }
    expect(markup(toHtml("www.example.com"))).toContain('a href="http://www.example.com"')
  })
})
