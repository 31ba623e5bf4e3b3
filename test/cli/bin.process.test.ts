import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { programName } from "../../src/cli/program.ts"
import { root } from "../support/manifest.ts"
import { operations, shell, startHub } from "./support/child.ts"
import type { HubChild } from "./support/child.ts"

const KEY = "canary-key-0123456789"
const petstore = resolve(root, "node_modules/@readme/oas-examples/3.0/json/petstore.json")
let hub: HubChild
let guarded: HubChild
let empty: string

beforeAll(async () => {
  ;[hub, guarded, empty] = await Promise.all([
    startHub(),
    startHub(KEY),
    mkdtemp(join(tmpdir(), "operations-cli-")),
  ])
})

afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await guarded[Symbol.asyncDispose]()
  await rm(empty, { recursive: true, force: true })
})

describe("the program, as a process with pipes", () => {
  test("lists a hub in another process", async () => {
    const { code, stdout, stderr } = await operations(["list", "--hub", hub.url])

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("task.create\tmutation\tCreate a task\n")
    expect(stdout).not.toContain("\u001B")
  })

  test("--json is one value, of every command that lists", async () => {
    for (const argv of [["list"], ["search", "task"], ["describe", "task.create"]]) {
      const { code, stdout } = await operations([...argv, "--json", "--hub", hub.url])

      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toBeTypeOf("object")
    }
  })

  test("the hub and its token may come from variables", async () => {
    const env = { OPERATIONS_HUB: guarded.url, OPERATIONS_TOKEN: KEY }
    expect((await operations(["list"], { env })).code).toBe(0)

    const without = await operations(["list"], { env: { OPERATIONS_HUB: guarded.url } })
    expect(without.code).toBe(1)
    expect(without.stderr).toContain("set OPERATIONS_TOKEN")

    const wrong = { ...env, OPERATIONS_TOKEN: "canary-wrong-0123456789" }
    const refused = await operations(["list", "--verbose"], { env: wrong })
    expect(refused.code).toBe(1)
    expect(refused.stdout + refused.stderr).not.toContain("canary")
  })

  test("works on a document without a configuration", async () => {
    const { code, stdout } = await operations(["list", "--openapi", petstore], { cwd: empty })

    expect(code).toBe(0)
    expect(stdout).toContain("petstore.addPet\tmutation\t")
  })

  test("without any source says what to do, and is wrong", async () => {
    const { code, stdout, stderr } = await operations(["list"], { cwd: empty })

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(" init\n")
  })

  test.each([[["lst"]], [["list", "--jsn"]], [["describe"]], [["list", "--limit", "x"]]])(
    "bad arguments %j end with 2 and print no result",
    async (argv) => {
      const { code, stdout, stderr } = await operations([...argv, "--hub", hub.url])

      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).not.toBe("")
    },
  )

  test("a reader that closes the pipe is not a failure", async () => {
    const { code, stdout, stderr } = await shell(
      `operations list --openapi '${petstore}' | head -n 1`,
      { cwd: empty },
    )

    expect(stderr).toBe("")
    expect(stdout).toBe("petstore.addPet\tmutation\tAdd a new pet to the store\n")
    expect(code).toBe(0)
  })

  test("an output closed before anything is written is not a failure", async () => {
    const { stderr } = await shell(`operations --help | true`)

    expect(stderr).toBe("")
  })

  test("a result that cannot be written is a failure, reported on one line", async () => {
    const { code, stderr } = await shell(`operations --help > /dev/full`)

    expect(code).toBe(1)
    expect(stderr).toMatch(/^Cannot write the result: ENOSPC.*\n$/)
  })

  test("a large result arrives whole", async () => {
    const many = { openapi: "3.1.0", info: { title: "Many", version: "1" }, paths: paths(3000) }
    await writeFile(join(empty, "many.json"), JSON.stringify(many))
    const { code, stdout } = await shell(`operations list --json --openapi many.json | cat`, {
      cwd: empty,
    })

    expect(code).toBe(0)
    expect((JSON.parse(stdout) as { total: number }).total).toBe(3000)
  })

  test("Ctrl-C ends it with 130, and a source's process with it", async () => {
    const pidFile = join(empty, "pid")
    await writeFile(
      join(empty, "silent.mjs"),
      `import { writeFileSync } from "node:fs"
       writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
       setInterval(() => {}, 1000)`,
    )
    const ran = await operations(["list", "--verbose", "--mcp", "node silent.mjs"], {
      cwd: empty,
      onStart: (child) => {
        void until(() => existsSync(pidFile)).then(() => child.kill("SIGINT"))
      },
    })

    expect(ran).toMatchObject({ code: 130, stdout: "", stderr: "silent: loading\n" })
    const pid = Number(await readFile(pidFile, "utf8"))
    await until(() => !isAlive(pid))
  })

  test("completes in a real bash", async () => {
    const line = [
      `eval "$(operations completion bash)"`,
      `COMP_WORDS=(operations describe --hub ${hub.url} task.cr); COMP_CWORD=4`,
      `_operations; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join("\n")

    expect(await shell(line)).toMatchObject({ code: 0, stdout: "task.create\n", stderr: "" })
  })

  test("can be started through a link, as npm installs it", async () => {
    const link = join(empty, "operations")
    await symlink(resolve(root, "src/cli/bin.ts"), link)
    const { code, stdout } = await shell(
      `'${process.execPath}' --import '${import.meta.resolve("tsx")}' '${link}' --version`,
    )

    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe("programName", () => {
  test.each([
    ["/usr/local/bin/operations", {}, "operations"],
    ["/app/node_modules/.bin/operations", {}, "npx @alkdev/operations"],
    [String.raw`C:\app\node_modules\.bin\operations`, {}, "npx @alkdev/operations"],
    ["/app/node_modules/@alkdev/operations/dist/cli/bin.js", {}, "operations"],
    ["/clone/src/cli/bin.ts", {}, "npm run -s operations --"],
    [
      "/x/operations",
      { npm_command: "exec", npm_lifecycle_event: "npx" },
      "npx @alkdev/operations",
    ],
    [undefined, {}, "operations"],
  ])("%s is %s %s", (script, env, name) => {
    expect(programName(script, env)).toBe(name)
  })
})

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 600) throw new Error("It never came to that.")
    await new Promise((done) => setTimeout(done, 50))
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function paths(count: number): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/p${at}`,
      {
        get: {
          operationId: `get${at}`,
          summary: `Gets what has the number ${at} in a list that is long`,
          responses: { 200: { description: "" } },
        },
      },
    ]),
  )
}
