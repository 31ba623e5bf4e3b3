import { afterAll, beforeAll, expect, test } from "vitest"
import { BUILD_TIMEOUT, buildPackage, run, type BuiltPackage } from "./build.ts"

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, BUILD_TIMEOUT)
afterAll(() => built?.[Symbol.asyncDispose]())

test(
  "a strict project without skipLibCheck compiles against the published types, and runs",
  async () => {
    const emit = ["-p", "tsconfig.json", "--noEmit", "false", "--outDir", "out"]
    await expect(run("tsc", emit, built.app)).resolves.toBe("")

    expect(await run("node", ["out/main.js"], built.app)).toBe("Milk is on the list\n")
  },
  BUILD_TIMEOUT,
)
