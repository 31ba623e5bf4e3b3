import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { sourceOptions } from "../../../src/cli/shared-options.ts"
import { configFor } from "../../../src/cli/target/config.ts"
import type { ResolvedConfig } from "../../../src/config.ts"
import { testIO } from "../support/run.ts"

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-config-"))
  await writeFile(join(folder, "own.json"), `{"sources":{"shop":{"openapi":"./shop.json"}}}`)
  await writeFile(join(folder, "none.json"), `{"sources":{}}`)
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

function config(...argv: string[]): Promise<ResolvedConfig> {
  return configFor(readArgs(argv, sourceOptions), testIO({ cwd: folder }))
}

test("sources of the command line stand beside those of the file, where they were typed", async () => {
  const { sources } = await config(
    ...["--config", "own.json", "--openapi", "other/shop.json", "--scan", "ops"],
    ...["--openapi", "https://example.com/shop.json"],
  )
  const given = sources.map((source) => source.config)

  expect(sources.map(({ name }) => name)).toContain("shop_2")
  expect(new Set(sources.map(({ name }) => name)).size).toBe(4)
  expect(given).toContainEqual(
    expect.objectContaining({ openapi: join(folder, "other/shop.json") }),
  )
  expect(given).toContainEqual(expect.objectContaining({ scan: join(folder, "ops") }))
  expect(given).toContainEqual(
    expect.objectContaining({ openapi: "https://example.com/shop.json" }),
  )
})

test("configFor reports an unknown source with a suggestion", async () => {
  await expect(config("--config", "own.json", "--source", "shpo")).rejects.toThrow(
    `There is no source "shpo". Did you mean "shop"? Sources: shop.`,
  )
  await expect(config("--config", "own.json", "--source", "zzzzzzzz")).rejects.toThrow(
    `There is no source "zzzzzzzz". Sources: shop.`,
  )
  await expect(config("--config", "none.json", "--source", "a")).rejects.toThrow(
    `There is no source "a". Sources: none.`,
  )
})

test("--connect-timeout sets the time that MCP servers have to start", async () => {
  const { sources } = await config("--mcp", "npx -y far", "--connect-timeout", "5000")
  expect(sources[0]?.config).toMatchObject({ mcp: "npx -y far", connectTimeout: 5000 })
  await expect(config("--mcp", "npx -y far", "--connect-timeout", "0")).rejects.toThrow(
    "at least 1",
  )
  await expect(config("--scan", "ops", "--connect-timeout", "5")).rejects.toThrow(
    "--connect-timeout is for MCP servers; there is none.",
  )
})
