import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { apiPage } from "../tools/scripts/api-docs.ts"
import { configPage } from "../tools/scripts/config-docs.ts"
import { sourceEntries } from "./support/manifest.ts"

describe("the README", () => {
  test("shows a program of at most 20 lines", () => {
    expect(read("examples/readme.ts").trimEnd().split("\n").length).toBeLessThanOrEqual(20)
  })

  test.each([...sourceEntries.keys()])("lists the entry %s", (entry) => {
    expect(read("README.md")).toContain(`\`${entry.replace(/^\./, "@alkdev/operations")}\``)
  })
})

/** A page however its tables are aligned. */
const plain = (page: string): string => page.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---")

test("the page about configurations lists the fields as tools/scripts/config-docs.ts writes them", () => {
  expect(plain(read("docs/guides/config.md"))).toBe(plain(configPage()))
})

describe("the API page", () => {
  test("is what tools/scripts/api-docs.ts writes", () => {
    expect(plain(read("docs/api.md"))).toBe(plain(apiPage()))
  })

  test("says something about every value that is exported", () => {
    expect(apiPage().match(/^\| `[^|]*\| +\|$/gm)).toBeNull()
  })
})

describe("the pages", () => {
  const guides = readdirSync(new URL("../docs/guides/", import.meta.url))

  test.each(guides)("the guide %s opens with code that runs", (guide) => {
    const [title, blank, fence] = read(`docs/guides/${guide}`).split("\n")

    expect([title, blank, fence]).toEqual([
      expect.stringMatching(/^# /),
      "",
      expect.stringMatching(/^```(?:ts|sh|yaml) file=examples\//),
    ])
  })

  test.each(guides)(
    "the guide %s shows what its program prints, and the index lists it",
    (guide) => {
      expect(read(`docs/guides/${guide}`)).toMatch(/^```text out=examples\//m)
      expect(read("docs/README.md")).toContain(`(guides/${guide})`)
    },
  )

  test("each page opens with its own example", () => {
    const pages = ["README.md", ...markdownIn("docs")]
    const openings = pages.map((page) => ({
      page,
      opening: /^```.*\n([^`]+)/m.exec(read(page))?.[1],
    }))
    const shared = openings.filter(({ page, opening }) =>
      openings.some((other) => other.page !== page && other.opening === opening),
    )

    expect(shared).toEqual([])
  })

  test.each([
    "AGENTS.md",
    "docs/contributing.md",
    "docs/concepts.md",
    "docs/architecture/README.md",
    "docs/security.md",
  ])("the files and folders that %s names exist", (page) => {
    const named = [...read(page).matchAll(/`((?:src|test|console|scripts)\/[^`\s<{…]*)`/g)]
    const missing = named.map(([, path = ""]) => path).filter((path) => !exists(path))
    // Beside a path, others in its folder are named without it.
    const short = [
      ...read(page).matchAll(/`((?!src\/|test\/|console\/|scripts\/)[\w./-]+\.tsx?)`/g),
    ]
    const unknown = short.map(([, name = ""]) => name).filter((name) => !isSomewhere(name))

    expect(missing).toEqual([])
    expect(unknown).toEqual([])
  })

  test("the index lists each guide once", () => {
    const index = read("docs/README.md")

    expect(guides.filter((guide) => index.split(`(guides/${guide})`).length !== 2)).toEqual([])
  })

  // Whoever owns a name on a public registry could otherwise run programs where an example was copied.
  test("programs that examples fetch are in our own scopes", () => {
    const pages = ["docs", "examples", "src/cli", "demo"].flatMap((folder) =>
      readdirSync(new URL(`../${folder}/`, import.meta.url), { recursive: true }).map(
        (name) => `${folder}/${String(name)}`,
      ),
    )
    const texts = [
      "README.md",
      ...pages.filter((name) => /\.(?:md|ts|sh|json|ya?ml|out)$/.test(name)),
    ]
    const fetched = texts.flatMap((file) =>
      [
        ...read(file).matchAll(
          /\b(?:npx|bunx|pnpx|uvx)"?,?(?: |\[)+(?:args: \[)?(?:"?-y"?,? )?"?([@\w./-]+)/g,
        ),
      ].map(([, name = ""]) => `${file}: ${name}`),
    )
    const strange = fetched.filter(
      (one) => !/: (?:@example\/|@alkdev\/operations|operations$|tsx$|need$)/.test(one),
    )

    expect(fetched.length).toBeGreaterThan(10)
    expect(strange).toEqual([])
  })

  test("every decision is listed", () => {
    const decisions = readdirSync(new URL("../docs/architecture/decisions/", import.meta.url))
    const page = read("docs/architecture/README.md")

    expect(decisions.filter((file) => !page.includes(`(decisions/${file})`))).toEqual([])
  })
})

const sources = [
  "src",
  "test",
  "console/src",
  "tools/scripts",
  "examples",
  "demo",
  "tools/faults",
].flatMap((folder) =>
  readdirSync(new URL(`../${folder}/`, import.meta.url), { recursive: true }).map(
    (name) => `/${folder}/${String(name).replaceAll("\\", "/")}`,
  ),
)

/** Whether a source file has this name or ends with this path. */
function isSomewhere(name: string): boolean {
  return sources.some((path) => path.endsWith(`/${name}`))
}

/** Whether there is such a file or folder; `*` stands for any part of a name. */
function exists(path: string): boolean {
  const folder = path.replace(/[^/]*$/, "")
  if (!existsSync(new URL(`../${folder}`, import.meta.url))) return false
  if (path === folder) return true
  const name = new RegExp(
    `^${path.slice(folder.length).replaceAll(".", "\\.").replaceAll("*", ".*")}$`,
  )
  return readdirSync(new URL(`../${folder}`, import.meta.url)).some((file) => name.test(file))
}

/** The pages of a folder, without decisions. */
function markdownIn(folder: string): string[] {
  return readdirSync(new URL(`../${folder}/`, import.meta.url), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md") && !name.includes("/decisions/"))
}

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), "utf8")
}
