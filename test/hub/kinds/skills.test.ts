import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { resolveConfig } from "../../../src/config.ts"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { createHub, type Hub } from "../../../src/node.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toMCP, type MCPServer } from "../../../src/to-mcp.ts"
import { connect, type Era } from "../../serve/mcp/support/clients.ts"
import { quietRegistry } from "../../support/operations.ts"

const markdown = (name: string, rest = ""): string =>
  `---\nname: ${name}\ndescription: How to do ${name}\n${rest}---\n# ${name}\n`

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "review/SKILL.md": markdown("review", "license: MIT\nmetadata:\n  version: '2'\n"),
  "review/references/a b.md": "See é.",
  "review/logo.png": new Uint8Array([137, 80, 0, 255]),
  "review/.hidden": "no",
  "billing/refunds/SKILL.md": markdown("refunds"),
  "wrong/SKILL.md": markdown("right"),
  "plain/SKILL.md": "# No frontmatter",
  "broken/SKILL.md": "---\nname: [\n---\n",
}

let folder: string
let hub: Hub
const closing: { close(): Promise<void> }[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-skills-"))
  for (const [path, content] of Object.entries(FILES)) {
    const file = join(folder, "skills", path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  await writeFile(join(folder, "secret.txt"), "secret")
  await symlink(join(folder, "secret.txt"), join(folder, "skills/review/link.txt"))
  const sources = { skills: { skills: "./skills" } }
  hub = createHub(resolveConfig({ sources }, { baseDir: folder }), { logger: silentLogger })
  await hub.ready()
})

afterAll(async () => {
  for (const one of closing.toReversed()) await one.close()
  await hub.close()
  await rm(folder, { recursive: true })
})

const listen = async (server: MCPServer): Promise<string> => {
  closing.push(server)
  return (await server.listen({ port: 0 })).url
}

/** The address of the hub, or of a gateway that has imported it. */
async function addressOf(way: string, era: Era): Promise<string> {
  const url = await listen(toMCP(hub.registry, { logger: silentLogger }))
  if (way === "hub") return url
  const config = { url, era, resources: true, logger: silentLogger }
  const imported = await createMCPClient("up", config)
  closing.push(imported)
  const registry = quietRegistry([])
  imported.registerAll(registry)
  return await listen(toMCP(registry, { logger: silentLogger }))
}

describe.each([
  ["hub", "modern"],
  ["hub", "legacy"],
  ["gateway", "modern"],
  ["gateway", "legacy"],
] as const)("the skills of a folder, of a %s, %s", (way, era) => {
  test("are listed with their frontmatter, and each file is what its digest says", async () => {
    await using client = await connect(await addressOf(way, era), era)
    const skills = new SkillsClient(client)

    expect(skills.supported).toBe(true)
    const listed = await skills.list()
    expect(listed.skills.map(({ uri }) => uri)).toEqual([
      "skill://billing/refunds/SKILL.md",
      "skill://review/SKILL.md",
    ])
    const review = listed.skills[1]!
    expect(review.frontmatter).toEqual({
      name: "review",
      description: "How to do review",
      license: "MIT",
      metadata: { version: "2" },
    })
    expect((review.resources as { uri: string }[]).map(({ uri }) => uri)).toEqual([
      "skill://review/SKILL.md",
      "skill://review/logo.png",
      "skill://review/references/a%20b.md",
    ])
    // Verifies size, digest and frontmatter.
    for (const ref of ["SKILL.md", "logo.png", "references/a%20b.md"]) {
      expect((await skills.read(review, ref)).verified).toBe(true)
    }
    expect((await skills.get("skill://review/SKILL.md")).skill).toEqual(review)
  })

  test("are resources for clients without the extension, and nothing else of the disk is", async () => {
    await using client = await connect(await addressOf(way, era), era)

    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toContain("skill://review/SKILL.md")
    const { contents } = await client.readResource({ uri: "skill://review/SKILL.md" })
    expect(contents).toMatchObject([{ mimeType: "text/markdown", text: FILES["review/SKILL.md"] }])
    for (const path of [".hidden", "link.txt", "../../secret.txt", "..%2F..%2Fsecret.txt"]) {
      const read = client.readResource({ uri: `skill://review/${path}` })
      await expect(read).rejects.toThrow(/path|not found/)
    }
    await expect(new SkillsClient(client).get("skill://wrong/SKILL.md")).rejects.toThrow(
      "Unknown skill",
    )
  })
})

test("a folder that is no skill is skipped, with the reason", () => {
  const { items } = hub.report("skills")!
  const reasons = Object.fromEntries(
    items.flatMap(({ origin, status, notes }) =>
      status === "skipped" ? [[origin, notes[0]]] : [],
    ),
  )
  expect(reasons).toMatchObject({
    "/wrong": 'its name must be that of its folder, "wrong"',
    "/plain": "SKILL.md does not begin with frontmatter between lines of ---",
    "/broken": expect.any(String),
  })
})
