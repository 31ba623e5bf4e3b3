import { afterAll, beforeAll, expect, test } from "vitest"
import { BUILD_TIMEOUT, buildPackage, run, type BuiltPackage } from "./build.ts"

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, BUILD_TIMEOUT)
afterAll(() => built?.[Symbol.asyncDispose]())

test(
  "a strict project without skipLibCheck compiles against the published types",
  async () => {
    await expect(run("tsc", ["-p", "tsconfig.json"], built.app)).resolves.toBe("")
  },
  BUILD_TIMEOUT,
)

test(
  "what the project compiles to runs",
  async () => {
    await run("tsc", ["-p", "tsconfig.json", "--noEmit", "false", "--outDir", "out"], built.app)

    expect(await run("node", ["out/main.js"], built.app)).toBe("Milk is on the list\n")
  },
  BUILD_TIMEOUT,
)
