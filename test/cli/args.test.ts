import { describe, expect, test } from "vitest"
import { readArgs } from "../../src/cli/args.ts"
import { UsageError } from "../../src/cli/model.ts"
import type { OptionSpecs } from "../../src/cli/model.ts"

const options: OptionSpecs = {
  json: { type: "boolean", description: "" },
  quiet: { type: "boolean", short: "q", description: "" },
  config: { type: "string", short: "c", value: "file", description: "" },
  header: { type: "string", multiple: true, description: "" },
  limit: { type: "string", description: "" },
}

function read(...argv: string[]): ReturnType<typeof readArgs> {
  return readArgs(argv, options)
}

describe("readArgs", () => {
  test("reads options wherever they stand, and keeps the rest in order", () => {
    const args = read("task.create", "--json", "title=Milk", "-c", "a.json", "labels[]=x")

    expect(args.positionals).toEqual(["task.create", "title=Milk", "labels[]=x"])
    expect(args.flag("json")).toBe(true)
    expect(args.flag("quiet")).toBe(false)
    expect(args.text("config")).toBe("a.json")
  })

  test("takes the last value of an option, and all of one that repeats", () => {
    const args = read("-c", "a", "--config=b", "--header", "x: 1", "--header", "y: 2")

    expect(args.text("config")).toBe("b")
    expect(args.texts("header")).toEqual(["x: 1", "y: 2"])
    expect(args.texts("limit")).toEqual([])
  })

  test("takes everything after -- as it is", () => {
    expect(read("a", "--", "--json", "-x").positionals).toEqual(["a", "--json", "-x"])
  })

  test("takes a dash alone, an empty value, and a value with a dash after =", () => {
    expect(read("--config", "-").text("config")).toBe("-")
    expect(read("--config=").text("config")).toBe("")
    expect(read("--config=-x").text("config")).toBe("-x")
    expect(read("x=-1", "y=--json").positionals).toEqual(["x=-1", "y=--json"])
  })

  test.each([
    [["--jsno"], 'There is no option "--jsno". Did you mean "--json"?'],
    [["--nothing-like-it"], 'An argument that begins with a dash goes after "--".'],
    [["-z"], 'There is no option "-z".'],
    [["-1"], 'There is no option "-1".'],
    [["--__proto__"], 'There is no option "--__proto__".'],
    [["--constructor=x"], 'There is no option "--constructor".'],
    [["--json=yes"], 'Option "--json" takes no value; got "yes".'],
    [["--config"], 'Option "--config" needs a value: --config <file>'],
    [["--config", "--json"], 'Option "--config" needs a value'],
  ])("refuses %j", (argv, message) => {
    expect(() => readArgs(argv, options)).toThrow(UsageError)
    expect(() => readArgs(argv, options)).toThrow(message)
  })

  test("shows no value that was taken for an option: it may be a secret", () => {
    expect(() => read("--config", "-canary")).toThrow(/^(?!.*canary)/)
  })

  test("reads whole numbers and refuses everything else", () => {
    expect(read("--limit", "0").count("limit")).toBe(0)
    expect(read("--limit=123").count("limit")).toBe(123)
    expect(read().count("limit")).toBeUndefined()
    for (const text of ["", "1.5", "1e3", "0x1", " 1", "many", "9".repeat(16)]) {
      expect(() => read(`--limit=${text}`).count("limit")).toThrow("takes a whole number")
    }
  })
})
