import { Server, Socket } from "node:net"
import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { validateOptions } from "../src/internal/options.ts"
import type { OptionsSchema } from "../src/internal/options.ts"
import { EXPORTS } from "./pins/exports.ts"
import { FUNCTIONS, WITHOUT_OPTIONS } from "./support/option-functions.ts"
import { isRequired, pathsOf, sampleOf, wrongValuesOf } from "./support/option-values.ts"

const opened = vi.fn()

beforeAll(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => {
    opened()
    return new Response()
  })
  vi.spyOn(Server.prototype, "listen").mockImplementation(opened)
  vi.spyOn(Socket.prototype, "connect").mockImplementation(opened)
})

afterAll(() => vi.restoreAllMocks())

describe("options of every exported function", () => {
  test("each export has a row in the table, or takes no options", () => {
    const exported = [...new Set(Object.values(EXPORTS).flat())]
    const known = [...FUNCTIONS.map(({ name }) => name.replace(/\..*/, "")), ...WITHOUT_OPTIONS]

    expect(exported.filter((name) => !known.includes(name))).toEqual([])
    expect(known.filter((name) => !exported.includes(name))).toEqual([])
  })

  describe.each(FUNCTIONS)("$name", ({ caller, schema, construct, isPassive = true }) => {
    const paths = pathsOf(schema).map((one) => ({ ...one, shown: one.path || "options" }))

    test("rejects a wrong value of each option before anything happens, and names the option", async () => {
      for (const { shown, rule, isSecret, within } of paths) {
        for (const value of wrongValuesOf(rule).slice(0, 1)) {
          const message = await messageOf(() => construct(within(value)))
          expect(message).toMatch(startOf(`${caller}(): ${shown} must be `))
          expect(message).toContain(isSecret ? "got " : receivedText(value))
        }
      }
      expect(opened).not.toHaveBeenCalled()
    })

    test("rejects names that are unknown, misspelt or missing", async () => {
      for (const { path, members, open, within } of paths) {
        if (members === undefined) continue
        const whole = sampleOf({ members }) as object
        for (const [options, expected] of wrongNames(path, members, open)) {
          const message = await messageOf(() => construct(within({ ...whole, ...options })))
          expect(message).toMatch(startOf(`${caller}(): ${expected}`))
          expect(message).not.toContain("a-wrong-value")
        }
      }
      expect(opened).not.toHaveBeenCalled()
    })

    test("accepts a right value of each option", async () => {
      for (const { rule, within } of paths) {
        const options = within(sampleOf(rule))
        expect(() => validateOptions(caller, options, schema)).not.toThrow()
        // What an option means is checked after this, such as that a key is long enough.
        const error = isPassive ? await errorOf(() => construct(options)) : undefined
        expect(String(error)).not.toMatch(/\(\): .*(must be|is required|is not an option)/)
      }
    })

    test("rejects options that are not a plain object", async () => {
      for (const options of [null, [], "x", 1, true, () => {}, new Map(), Promise.resolve({})]) {
        const message = await messageOf(() => construct(options as never))
        expect(message).toMatch(startOf(`${caller}(): options must be an object, got `))
      }
    })
  })
})

/** All rules of all tables, each once. */
const RULES = new Map(
  FUNCTIONS.flatMap(({ schema }) => pathsOf(schema)).map(({ rule, isSecret }) => [
    `${isSecret ? "secret " : ""}${inspect(rule, { depth: 1, compact: true, breakLength: Infinity })}`,
    { rule, isSecret },
  ]),
)

describe("each rule of options", () => {
  test.each([...RULES])(
    "%s rejects all wrong values and shows no secret",
    async (_, { rule, isSecret }) => {
      const schema = { option: isSecret ? { secret: rule } : rule } as OptionsSchema
      for (const value of wrongValuesOf(rule)) {
        const message = await messageOf(() => validateOptions("f", { option: value }, schema))
        expect(message).toMatch(startOf("f(): option must be "))
        expect(message).toContain(isSecret ? "got " : receivedText(value))
        expect(isSecret && message.includes("a-wrong-value")).toBe(false)
      }
    },
  )
})

/** Options with a name that is missing, misspelt or unknown, and how the message about it begins. */
function wrongNames(
  path: string,
  members: OptionsSchema,
  open: boolean,
): [options: object, message: string][] {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`)
  const names = Object.keys(members)
  const missing = names
    .filter((name) => isRequired(members[name]))
    .map((name): [object, string] => [{ [name]: undefined }, `${at(name)} is required: `])
  if (open) return missing
  return [
    ...missing,
    ...misspelt(names).map((name): [object, string] => [
      { [name]: "a-wrong-value" },
      `${at(name)} is not an option (got a string). Did you mean "`,
    ]),
    [{ zzzzzzzz: 1 }, `${at("zzzzzzzz")} is not an option (got a number). Known options: `],
  ]
}

/** How a message shows a value that is no secret. */
function receivedText(value: unknown): string {
  return typeof value === "string"
    ? `got ${JSON.stringify(value)}`
    : typeof value === "number"
      ? `got ${value}.`
      : "got "
}

/** Names with their second letter left out, as far as that is no other name. */
function misspelt(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => name.length >= 4)
    .map((name) => `${name.slice(0, 1)}${name.slice(2)}`)
    .filter((name) => !names.includes(name))
}

async function messageOf(construct: () => unknown): Promise<string> {
  const error = await errorOf(construct)
  expect(error).toBeInstanceOf(TypeError)
  return (error as TypeError).message
}

/** What is thrown, or what a promise rejects with; what is made is closed. */
async function errorOf(construct: () => unknown): Promise<unknown> {
  try {
    const made = (await construct()) as { close?: () => unknown } | undefined
    await made?.close?.()
    return undefined
  } catch (error) {
    return error
  }
}

function startOf(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`)
}
