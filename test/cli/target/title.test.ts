import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { titleOfFile } from "../../../src/cli/target/title.ts"

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "title-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

test.each<[string, string | undefined]>([
  ["title: Swagger Petstore - OpenAPI 3.0", "petstore"],
  [`"title": "The Web API",`, undefined],
  ["title: 2024 !!!", undefined],
  ["title: Users and Groups", "users_and_groups"],
  [`title: ${"long".repeat(8)} ${"more".repeat(8)} x`, "long".repeat(8)],
  [`title: ${"x".repeat(41)}`, undefined],
  ["name: none", undefined],
])("a document that says %j is called %s", async (text, name) => {
  await writeFile(join(folder, "openapi.v3.yaml"), `info:\n  ${text}\n`)

  expect(await titleOfFile("openapi.v3.yaml", folder)).toBe(name)
})

test("a file that says whose it is, or is not there, has no title", async () => {
  expect(await titleOfFile("petstore.yaml", folder)).toBeUndefined()
  expect(await titleOfFile("swagger.json", folder)).toBeUndefined()
})

test("a name or a document of any length takes linear time", async () => {
  const started = process.cpuUsage().user
  const digits = `openapi.${"1".repeat(34)}x.json`
  await writeFile(join(folder, digits), "{}")
  expect(await titleOfFile(digits, folder)).toBeUndefined()
  await writeFile(join(folder, "openapi.yaml"), `title: ${" ".repeat(60_000)}x`)
  expect(await titleOfFile("openapi.yaml", folder)).toBe("x")
  // Backtracking would take longer than the universe exists.
  expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(20)
})
