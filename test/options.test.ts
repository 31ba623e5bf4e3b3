import { Server, Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { validateOptions } from "../src/internal/options.ts"
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
    const paths = pathsOf(schema)
    const named = paths.map((one) => [one.path || "options", one] as const)

    test.each(named)(
      "%s: wrong values are a TypeError that names it, before anything happens",
      async (shown, { rule, isSecret, within }) => {
        for (const value of wrongValuesOf(rule)) {
          const message = await messageOf(() => construct(within(value)))
          expect(message).toMatch(startOf(`${caller}(): ${shown} must be `))
          expect(message).toContain(isSecret ? "got " : receivedText(value))
          expect(isSecret && message.includes("a-wrong-value")).toBe(false)
        }
        expect(opened).not.toHaveBeenCalled()
      },
    )

    test.each(named.filter(([, { members }]) => members !== undefined))(
      "%s: names that are unknown, misspelt or missing are a TypeError",
      async (_, { path, members = {}, open, within }) => {
        const at = (name: string): string => (path === "" ? name : `${path}.${name}`)
        const whole = sampleOf({ members }) as object
        const names = Object.keys(members)
        const cases: [options: object, message: string][] = [
          ...names
            .filter((name) => isRequired(members[name]))
            .map((name): [object, string] => [{ [name]: undefined }, `${at(name)} is required: `]),
          ...misspelt(open ? [] : names).map((name): [object, string] => [
            { [name]: "a-wrong-value" },
            `${at(name)} is not an option (got a string). Did you mean "`,
          ]),
          ...(open ? [] : ["zzzzzzzz"]).map((name): [object, string] => [
            { [name]: 1 },
            `${at(name)} is not an option (got a number). Known options: `,
          ]),
        ]
        for (const [options, expected] of cases) {
          const message = await messageOf(() => construct(within({ ...whole, ...options })))
          expect(message).toMatch(startOf(`${caller}(): ${expected}`))
          expect(message).not.toContain("a-wrong-value")
        }
        expect(opened).not.toHaveBeenCalled()
      },
    )

    test.each(named)("%s: what it may be is accepted", async (_, { rule, within }) => {
      const options = within(sampleOf(rule))
      expect(() => validateOptions(caller, options, schema)).not.toThrow()
      // What an option means is checked after this, such as that a key is long enough.
      const error = isPassive ? await errorOf(() => construct(options)) : undefined
      expect(String(error)).not.toMatch(/\(\): .*(must be|is required|is not an option)/)
    })

    test("options that are not a plain object are a TypeError", async () => {
      for (const options of [null, [], "x", 1, true, () => {}, new Map(), Promise.resolve({})]) {
        const message = await messageOf(() => construct(options as never))
        expect(message).toMatch(startOf(`${caller}(): options must be an object, got `))
      }
    })
  })
})

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
