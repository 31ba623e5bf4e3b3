import { describe, expect, test } from "vitest"
import { readArgs } from "../../src/cli/args.ts"
import { reportError } from "../../src/cli/errors.ts"
import { UsageError } from "../../src/cli/model.ts"
import { sourceOptions } from "../../src/cli/shared-options.ts"
import { ConfigError } from "../../src/config/error.ts"
import { CallError } from "../../src/core/errors.ts"
import { testIO } from "./support/run.ts"

function printed(
  error: unknown,
  options: Partial<Parameters<typeof reportError>[2]> & {
    verbose?: boolean
    columns?: number
  } = {},
): { code: number; text: string } {
  const { verbose, columns, ...rest } = options
  const io = testIO(columns === undefined ? {} : { columns })
  const code = reportError(error, { ...io, verbose }, { isJson: false, ...rest })
  return { code, text: io.stderr.text }
}

describe("an error for a person", () => {
  test("of the command line says where help is, and is 2", () => {
    expect(printed(new UsageError("Wrong."))).toEqual({
      code: 2,
      text: "Wrong.\nSee how it is used: operations --help\n",
    })
    expect(printed(new UsageError("Wrong."), { command: "call", verbose: true })).toEqual({
      code: 2,
      text: "Wrong.\nSee how it is used: operations call --help\n",
    })
  })

  test("of anything thrown is 1 and says something", () => {
    expect(printed(new Error(""))).toEqual({ code: 1, text: "The command failed: Error\n" })
    expect(printed("a \u001B[2Jtext").text).toBe(
      `${String.raw`The command failed: a \u001b[2Jtext`}\n`,
    )
    expect(printed(undefined)).toEqual({ code: 1, text: "The command failed: undefined\n" })
    expect(printed(new CallError("OUR_OWN", "Ours.")).code).toBe(1)
    expect(printed(new CallError("constructor", "Ours.")).code).toBe(1)
  })

  test("that a server hides says under which id its log has more", () => {
    const hidden = new CallError("EXECUTION_ERROR", "The operation failed.", { requestId: "r-1" })
    expect(printed(hidden)).toEqual({
      code: 1,
      text: "The operation failed.\nThe log of the server has more, under the request id r-1.\n",
    })
    expect(printed(hidden, { isJson: true }).text).toContain('"requestId":"r-1"')
  })

  test("colours only its first line", () => {
    expect(printed(new Error("one\ntwo"), { columns: 80 }).text).toBe(
      "\u001B[31mone\u001B[39m\ntwo\n",
    )
  })

  test("has its stack when asked for details", () => {
    const error = new Error("Failed.")
    expect(printed(error, { verbose: true }).text).toContain("errors.test.ts")
    expect(printed(error).text).toBe("Failed.\n")
    delete error.stack
    expect(printed(error, { verbose: true }).text).toBe("Failed.\n\n")
    expect(printed("text", { verbose: true }).text).toBe("The command failed: text\n")
  })

  test("of an unknown operation says how to list those of the same sources", () => {
    const error = new CallError("OPERATION_NOT_FOUND", "No such.")
    expect(printed(error).text).toBe("No such.\nSee what there is: operations list\n")
    const argv = ["--openapi", "./it's here.yaml", "--scan", "./ops", "--token", "hush"]
    const { text } = printed(error, { args: readArgs(argv, sourceOptions) })
    expect(text).toBe(
      `No such.\nSee what there is: operations list --openapi './it'\\''s here.yaml' --scan ./ops\n`,
    )
  })
})

describe("an error for a program", () => {
  const json = (error: unknown): unknown => {
    const { text } = printed(error, { isJson: true })
    expect(text.trim()).not.toContain("\n")
    return JSON.parse(text)
  }

  test("has a code whatever was thrown", () => {
    expect(json(new UsageError("Wrong."))).toEqual({
      error: { code: "USAGE_ERROR", message: "Wrong." },
    })
    expect(printed(new UsageError("Wrong."), { isJson: true }).code).toBe(2)
    expect(json(null)).toEqual({
      error: { code: "UNKNOWN_ERROR", message: "The command failed: null" },
    })
    expect(json(new CallError("NOT_FOUND", "Gone."))).toMatchObject({
      error: { code: "NOT_FOUND", message: "Gone." },
    })
  })

  test("of a configuration lists its issues", () => {
    const fault = { path: "sources.a", message: "Is wrong." }
    const error = new ConfigError([fault])
    expect(json(error)).toMatchObject({ error: { code: "VALIDATION_ERROR", faults: [fault] } })
  })
})
