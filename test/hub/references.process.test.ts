import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { CallError } from "../../src/core/errors.ts"
import { Resolver, type ResolverOptions } from "../../src/hub/references.ts"

const CANARY = "canary-91-secret"
const NODE = `"${process.execPath}"`

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-references-"))
  await writeFile(join(folder, "token"), `\uFEFF${CANARY}\r\n\n`)
  await writeFile(join(folder, "pem"), "-----BEGIN-----\nline-one-of-it\nx\n-----END-----\n")
  await writeFile(join(folder, "empty"), "\n")
  await writeFile(join(folder, "large"), "x".repeat(1024 * 1024 + 1))
  await mkdir(join(folder, "folder"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("Resolver", () => {
  test.each([
    ["plain", "plain"],
    ["${env:TOKEN}", CANARY],
    ["Bearer ${env:TOKEN}!", `Bearer ${CANARY}!`],
    ["${TOKEN}", CANARY],
    ["${env:NONE:-x y}", "x y"],
    ["${env:EMPTY:-x}", "x"],
    ["${env:NONE:-}", ""],
    ["${env:NONE:-${env:TOKEN}}", CANARY],
    ["$${env:TOKEN}", "${env:TOKEN}"],
    ["${env:ODD}", "a ${env:TOKEN} $& $$ b"],
    ["${file:token}", CANARY],
    ["${file:./${env:NAME}}", CANARY],
    [`\${command:${NODE} -e "process.stdout.write('{' + 1 + '}')"}`, "{1}"],
    ["${userHome}", homedir()],
  ])("%s", async (text, value) => {
    await expect(resolver().resolve(text)).resolves.toBe(value)
  })

  test("masks resolved values and their lines, but not defaults", async () => {
    const one = resolver()
    await one.resolve("${env:TOKEN} ${file:pem} ${env:NONE:-harmless default} ${env:SHORT}")

    expect(one.mask(`a ${CANARY} b line-one-of-it harmless default xy`)).toBe(
      "a *** b *** harmless default xy",
    )
    expect(one.mask(encodeURIComponent(CANARY))).not.toContain(CANARY)
    expect(one.secrets()).toContain(CANARY)
  })

  test.each<[string, readonly string[]]>([
    ["${env:NONE}", [`variable "NONE" is not set`, "export NONE=", "${env:NONE:-…}"]],
    ["${env:TOKEM}", [`Did you mean "TOKEN"?`]],
    ["${env:EMPTY}", [`variable "EMPTY" is empty`, "${env:EMPTY:-}"]],
    ["${env:__proto__}", [`variable "__proto__" is not set`]],
    ["${file:none}", [`the file "none" does not exist`]],
    ["${file:}", ["without a path"]],
    ["${file:empty}", [`the file "empty" is empty`]],
    ["${file:folder}", [`the file "folder" is a folder`]],
    ["${file:large}", ["larger than"]],
    ["${command:no-such-program-here --x}", [`"no-such-program-here" cannot be started`]],
    [`\${command:${NODE} -e "process.exit(3)"}`, ["exit code 3", "by hand"]],
    [`\${command:${NODE} -e ""}`, ["printed nothing"]],
    [`\${command:${NODE} -e "process.stdout.write('x'.repeat(3e6))"}`, ["printed more than"]],
    ["${command:}", ["names no program"]],
    [`\${command:x "y}`, ["a quotation mark that is not closed"]],
    ["${vault:x}", ["${vault:…}, which is not known"]],
    ["${input:key}", ["an editor would ask"]],
    ["${env:A", ["without the"]],
    [`${"${env:NONE:-".repeat(20)}x${"}".repeat(20)}`, ["nested too deeply"]],
  ])("%s is refused in words", async (text, parts) => {
    const error = await failureOf(resolver().resolve(text))

    for (const part of parts) expect(error.message).toContain(part)
    expect(error.code).toBe("VALIDATION_ERROR")
  })

  test("no error shows a resolved value, the output of a command or its arguments", async () => {
    const one = resolver()
    const texts = [
      "${env:TOKEN} ${env:NONE}",
      "${file:${env:TOKEN}}",
      `\${command:${NODE} -e "console.log('${CANARY}'); console.error('${CANARY}'); process.exit(1)"}`,
      `\${command:${NODE} -e "process.exit(1)" \${env:TOKEN}}`,
      "${command:${env:TOKEN}}",
    ]
    for (const text of texts) {
      const error = await failureOf(one.resolve(text))
      expect(inspect(error) + JSON.stringify(error)).not.toContain(CANARY)
    }
  })

  test("a command gets words, not a shell", async () => {
    const runCommand = vi.fn(() => Promise.resolve("value"))
    const one = resolver({ runCommand })

    await one.resolve("${command:tool 'a b' ${env:SPACED} ; $(x)}")

    expect(runCommand).toHaveBeenCalledWith(["tool", "a b", "two words; rm", ";", "$(x)"], folder)
  })

  test("a command runs once for concurrent requests, until refresh", async () => {
    let count = 0
    const one = resolver({ runCommand: () => Promise.resolve(`value-${++count}`) })

    await expect(
      Promise.all([one.resolve("${command:a b}"), one.resolve("x ${command:a  b}")]),
    ).resolves.toEqual(["value-1", "x value-1"])
    one.refresh()
    await expect(one.resolve("${command:a b}")).resolves.toBe("value-2")
    expect(one.mask("value-1 value-2")).toBe("*** ***")
  })

  test("a failed command is tried again", async () => {
    const runCommand = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(new Error("is locked"))
      .mockResolvedValue("value")
    const one = resolver({ runCommand })

    await expect(one.resolve("${command:a}")).rejects.toThrow("is locked")
    await expect(one.resolve("${command:a}")).resolves.toBe("value")
  })

  test("many renewed tokens do not fill memory", async () => {
    let count = 0
    const one = resolver({ runCommand: () => Promise.resolve(`value-${++count}`) })
    for (let at = 0; at < 1500; at++) {
      one.refresh()
      await one.resolve("${command:a}")
    }

    expect(one.secrets()).toHaveLength(1000)
    expect(one.secrets()).toContain("value-1500")
  })
})

function resolver(options: Partial<ResolverOptions> = {}): Resolver {
  return new Resolver({
    env: {
      PATH: process.env["PATH"],
      TOKEN: CANARY,
      EMPTY: "",
      SHORT: "xy",
      NAME: "token",
      SPACED: "two words; rm",
      ODD: "a ${env:TOKEN} $& $$ b",
    },
    baseDir: folder,
    ...options,
  })
}

async function failureOf(promise: Promise<unknown>): Promise<CallError> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof CallError) return thrown
    throw thrown
  }
  throw new Error("It was resolved.")
}
