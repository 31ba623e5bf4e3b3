import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import * as config from "../src/config.ts"
import * as core from "../src/index.ts"
import * as node from "../src/node.ts"
import * as worker from "../src/worker.ts"
import * as websocket from "../src/websocket.ts"
import { sourceEntries } from "./support/manifest.ts"

describe("the README", () => {
  test("shows a program of at most 20 lines", () => {
    expect(read("examples/readme.ts").trimEnd().split("\n").length).toBeLessThanOrEqual(20)
  })

  test.each([...sourceEntries.keys()])("lists the entry %s", (entry) => {
    expect(read("README.md")).toContain(`\`${entry.replace(/^\./, "@alkdev/operations")}\``)
  })
})

describe("the API page", () => {
  const entries = [core, config, node, websocket, worker]

  test.each(entries.flatMap((entry) => Object.keys(entry)))("names %s", (name) => {
    expect(read("docs/api.md")).toMatch(new RegExp(`\`${name}[\`({]`))
  })

  test("names every exported type", () => {
    const page = read("docs/api.md")
    const files = ["src/index.ts", "src/config.ts", "src/node.ts", "src/websocket.ts"]
    const names = files.flatMap((file) => exportedTypes(file))
    const missing = names.filter((name) => !page.includes(`\`${name}\``))

    expect(missing).toEqual([])
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

const sources = ["src", "test", "console/src", "scripts", "examples", "demo", "faults"].flatMap(
  (folder) =>
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

/** The names in the `export type { … }` lists of a barrel. */
function exportedTypes(file: string): string[] {
  return [...read(file).matchAll(/^export type \{([^}]*)\}/gm)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((name) => name.trim() || []),
  )
}

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), "utf8")
}
