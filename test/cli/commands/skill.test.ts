import { mkdtemp, readFile, rm, writeFile, mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { serveHTTP, type ServedHTTP } from "../../../src/node.ts"
import { skillIssue } from "../../../src/core/skill.ts"
import { readYaml } from "../../../src/sources/openapi/yaml.ts"
import { hubRegistry } from "../support/hub-operations.ts"
import { run } from "../support/run.ts"

const registry = hubRegistry()
let served: ServedHTTP
let folder: string

beforeAll(async () => {
  served = await serveHTTP(registry, { port: 0, websocket: false })
  folder = await mkdtemp(join(tmpdir(), "operations-skill-"))
})

afterAll(async () => {
  await served.close()
  await registry.close()
  await rm(folder, { recursive: true })
})

const skill = (...argv: readonly string[]) =>
  run(["skill", ...argv, "--hub", served.url, "--token", "secret-token"], { cwd: folder })

test("operations skill teaches how to call a source, without credentials", async () => {
  const { code, stdout } = await skill("task")

  expect(code).toBe(0)
  expect(stdout).toContain(`operations call task.create title=… --hub ${served.url}`)
  expect(stdout).toContain(
    "- `task.create title [labels] [priority]` (mutation): Create a task\n- `task.fail`: Fails.",
  )
  expect(stdout).not.toContain("secret-token")
  const [, yaml = ""] = stdout.split("---\n")
  const frontmatter = readYaml(yaml, "It").value as Record<string, unknown>
  const of = { frontmatter, resources: "dynamic" as const }
  expect(skillIssue("skill://task/SKILL.md", of)).toBe(undefined)
})

test("operations skill repeats no hidden text and no markup of a source", async () => {
  const { stdout } = await skill("x")

  expect(stdout).not.toContain("\u001B")
  expect(stdout).not.toContain("\u202E")
})

test("operations skill writes a file, brings it up to date, and leaves files of others alone", async () => {
  const file = join(folder, "skills/task/SKILL.md")
  expect((await skill("task", "-o", "skills")).stderr).toContain("was written: 2 operations.")
  expect((await skill("task", "-o", "skills")).stderr).toContain("is up to date")
  await mkdir(join(folder, "other/task"), { recursive: true })
  await writeFile(join(folder, "other/task/SKILL.md"), "# Mine")
  expect(await skill("task", "-o", "other")).toMatchObject({ code: 2 })
  expect(await readFile(join(folder, "other/task/SKILL.md"), "utf8")).toBe("# Mine")
  expect(await readFile(file, "utf8")).toContain("name: task")
})

test("operations skill names a namespace without operations", async () => {
  expect(await skill("nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There are no operations in "nothing".'),
  })
})
