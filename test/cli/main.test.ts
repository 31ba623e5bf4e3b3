import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, test } from "vitest"
import { COMMANDS } from "../../src/cli/commands/index.ts"
import { allOptions } from "../../src/cli/command-line.ts"
import { root } from "../support/manifest.ts"
import { run } from "./support/run.ts"

const names = Object.keys(COMMANDS)

describe("operations", () => {
  test.each([["--help"], ["-h"], ["help"]])(
    "%s shows every command on standard output",
    async (word) => {
      const { code, stdout, stderr } = await run([word])

      expect(code).toBe(0)
      expect(stderr).toBe("")
      for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"))
      expect(stdout).not.toContain("\u001B")
    },
  )

  test("without a command it shows help on standard error and is wrong", async () => {
    const { code, stdout, stderr } = await run([])

    expect(code).toBe(2)
    expect(stdout).toBe("")
    expect(stderr).toContain("Usage: operations <command>")
  })

  test.each([["--version"], ["-V"]])("%s shows the version", async (word) => {
    const text = readFileSync(resolve(root, "package.json"), "utf8")
    const { version } = JSON.parse(text) as { version: string }

    expect(await run([word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" })
  })

  test("an unknown command is named, with what was meant", async () => {
    const { code, stdout, stderr } = await run(["lsit"])

    expect(code).toBe(2)
    expect(stdout).toBe("")
    expect(stderr).toBe(
      'There is no command "lsit". Did you mean "list"?\nSee how it is used: operations --help\n',
    )
  })

  test.each([["__proto__"], ["constructor"], [""], ["toString"]])(
    "%j is no command",
    async (name) => {
      const { code, stderr } = await run([name])

      expect(code).toBe(2)
      expect(stderr).toContain(`There is no command "${name}".`)
    },
  )

  test("a wrong option points to the command's help", async () => {
    const { code, stderr } = await run(["list", "--jsonn"])

    expect(code).toBe(2)
    expect(stderr).toBe(
      'There is no option "--jsonn". Did you mean "--json"?\nSee how it is used: operations list --help\n',
    )
  })

  test("too few and too many arguments are reported with the usage", async () => {
    expect((await run(["describe"])).stderr).toContain("operations describe <operation>")
    const many = await run(["describe", "a.b", "c.d"])

    expect(many.code).toBe(2)
    expect(many.stderr).toContain('does not know what to do with "c.d"')
  })

  test("with --json an error is one JSON value on standard error", async () => {
    const { code, stdout, stderr } = await run(["list", "--json", "--type", "x", "--scan", "."])

    expect(code).toBe(2)
    expect(stdout).toBe("")
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "USAGE_ERROR",
        message: '--type takes one of query, mutation, subscription; got "x".',
      },
    })
    expect(JSON.parse((await run(["--json", "nothing"])).stderr)).toHaveProperty("error.code")
  })

  test("shared options may stand before the command", async () => {
    const { code, stderr } = await run(["--scan", "list", "--json", "list", "--type", "x"])

    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toHaveProperty("error.message", expect.stringContaining("--type"))
  })

  test("a stopped command exits with the code of its signal", async () => {
    for (const [reason, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const) {
      const ran = await run(["list", "--scan", "."], { signal: AbortSignal.abort(reason) })
      expect(ran).toEqual({ code, stdout: "", stderr: "" })
    }
  })

  test("colours its help on a terminal", async () => {
    expect((await run(["--help"], { columns: 80 })).stdout).toContain(
      "\u001B[1mCommands:\u001B[22m",
    )
  })
})

describe.each(names)("operations %s", (name) => {
  test("has help with examples that its options allow", async () => {
    const { code, stdout } = await run([name, "--help"])
    const command = await COMMANDS[name]?.load()

    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: operations ${name}`)
    expect(command?.examples.length).toBeGreaterThan(0)
    for (const [line] of command?.examples ?? []) {
      expect(stdout).toContain(`  operations ${line}\n`)
      for (const [, option] of line.matchAll(/ --([a-z-]+)/g)) {
        expect(command === undefined ? {} : allOptions(command)).toHaveProperty([option as string])
      }
    }
  })

  test("its options share no letter", async () => {
    const command = await COMMANDS[name]?.load()
    const letters = Object.values(command === undefined ? {} : allOptions(command)).flatMap(
      ({ short }) => short ?? [],
    )

    expect(new Set(letters).size).toBe(letters.length)
  })

  test("refuses an option that it does not have", async () => {
    const { code, stdout, stderr } = await run([name, "--no-such-option"])

    expect(code).toBe(2)
    expect(stdout).toBe("")
    expect(stderr).toContain('There is no option "--no-such-option".')
  })
})
