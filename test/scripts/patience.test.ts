import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import config from "../../vitest.config.ts"
import { PATIENCE } from "../support/patience.ts"
import { maskSource } from "../support/source-scan.ts"

const TEST_TIMEOUT = 120_000

/** The arguments of a call, as text, and where it ends; `open` is its opening parenthesis. */
function argumentsOf(source: string, open: number): { texts: string[]; end: number } {
  const texts: string[] = []
  let depth = 0
  let from = open + 1
  for (let at = open; at < source.length; at++) {
    const char = source.charAt(at)
    if ("([{".includes(char)) depth++
    if (")]}".includes(char)) depth--
    if (depth > 1 || (depth === 1 && char !== ",")) continue
    const text = source.slice(from, at).trim()
    if (text !== "") texts.push(text)
    from = at + 1
    if (depth === 0) return { texts, end: at + 1 }
  }
  return { texts, end: source.length }
}

/** Calls of some functions, `test.each(…)(…)` as one, each with its last arguments. */
function callsOf(source: string, pattern: RegExp): { line: number; args: string[] }[] {
  return [...source.matchAll(pattern)].map(({ index, 0: { length } }) => {
    let call = argumentsOf(source, index + length - 1)
    while (source.charAt(call.end) === "(") call = argumentsOf(source, call.end)
    return { line: source.slice(0, index).split("\n").length, args: call.texts }
  })
}

/** The time limit that a test or hook sets itself, in milliseconds. */
function limitOf(args: readonly string[]): number | undefined {
  const given = args
    .map((text) => /^(?:\{ timeout: )?(\d[\d_]*)(?: \})?$/.exec(text)?.[1])
    .find((found) => found !== undefined)
  return given === undefined ? undefined : Number(given.replaceAll("_", ""))
}

/** What in a test depends on the speed of the machine. */
function impatience(text: string): string[] {
  const source = maskSource(text)
  const hooks = /\b(?:test|describe|(?:before|after)(?:All|Each))(?:\.\w+)*\(/g
  return [
    ...callsOf(source, /\bvi\.wait(?:For|Until)\(/g).map(
      ({ line }) => `${line}: use waitFor of test/support/wait-for.ts`,
    ),
    ...callsOf(source, /\.poll\(/g)
      .filter(({ args }) => args.length > 1)
      .map(({ line }) => `${line}: leave the options of expect.poll to vitest.config.ts`),
    ...callsOf(source, hooks)
      .filter(({ args }) => (limitOf(args) ?? Infinity) <= TEST_TIMEOUT)
      .map(({ line }) => `${line}: leave the time limit to vitest.config.ts`),
  ]
}

describe("the time that tests have", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && file !== "support/wait-for.ts")
    .map((file) => `test/${file}`)

  test("is set in one place", () => {
    const found = files.flatMap((file) =>
      impatience(readFileSync(file, "utf8")).map((fault) => `${file}:${fault}`),
    )
    expect(found).toEqual([])
  })

  test("is as long for expect.poll as for waitFor", () => {
    const { test: settings } = config as {
      readonly test: {
        readonly testTimeout: number
        readonly hookTimeout: number
        readonly expect: { readonly poll: { readonly timeout: number } }
      }
    }
    expect(settings).toMatchObject({ testTimeout: TEST_TIMEOUT, hookTimeout: TEST_TIMEOUT })
    expect(settings.expect.poll.timeout).toBe(PATIENCE)
  })

  test.each([
    ["await vi.waitFor(() => expect(a).toBe(1))", 1],
    ["await vi.waitFor(() => expect(a).toBe(1), { timeout: 5 })", 1],
    ["await waitFor(() => expect(a).toBe(1))", 0],
    ['// vi.waitFor(), and "vi.waitFor()" in a text', 0],
    ["await expect.poll(() => f(1, 2), { timeout: 1000 }).toBe(1)", 1],
    ["await expect.poll(() => f(1, 2)).toBe(1)", 0],
    ['test("a", async () => {\n  await f(1, 2)\n}, 30_000)', 1],
    ['test("a", { timeout: 30_000 }, async () => {})', 1],
    ['test.each([[1, 2]])("a", async () => {}, 5000)', 1],
    ["beforeAll(start, 10_000)", 1],
    ["beforeAll(start, 120_000)", 1],
    ["beforeAll(start, 180_000)", 0],
    ['test("a", () => void setTimeout(f, 50))', 0],
  ])("is looked for in %j", (text, count) => {
    expect(impatience(text)).toHaveLength(count)
  })
})
