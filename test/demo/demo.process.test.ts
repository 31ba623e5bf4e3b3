import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { operations } from "../cli/support/child.ts"
import { descendantsOf, eventually, isAlive, startServe } from "../cli/support/served.ts"
import type { Served } from "../cli/support/served.ts"
import { root } from "../support/manifest.ts"

const CONFIG = "demo/operations.config.ts"

let demo: Served

beforeAll(async () => {
  demo = await startServe(["--config", CONFIG, "--port", "0"], { fromSources: true })
})

afterAll(async () => {
  await demo?.[Symbol.asyncDispose]()
})

interface Answer {
  readonly status: number
  readonly body: { readonly data?: unknown; readonly code?: string }
}

async function call(id: string, input: unknown): Promise<Answer> {
  const response = await fetch(`${demo.url}/operations/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  })
  return { status: response.status, body: (await response.json()) as Answer["body"] }
}

describe("npm start", () => {
  test("tells of each source, what it serves and where", () => {
    for (const line of [
      "✓ desk   4 operations",
      "✓ shop   8 operations",
      "✓ notes  5 operations",
    ]) {
      expect(demo.stderr()).toContain(line)
    }
    expect(demo.stdout()).toContain("17 operations of 3 sources.")
    for (const place of ["/operations", "/openapi.json", "/mcp", "/ws"]) {
      expect(demo.stdout()).toContain(`${demo.url.slice(4)}${place}\n`)
    }
  })

  test("prints three commands that work as they are printed", async () => {
    const lines = demo.stdout().match(/(?<=^ {2})npm run .*/gm) ?? []
    expect(lines).toHaveLength(3)
    const { OPERATIONS_HUB: _, ...env } = process.env
    const shown = await Promise.all(
      lines.map((line) => promisify(execFile)("sh", ["-c", line], { cwd: root, env })),
    )
    const [list = "", converted = "", watched = ""] = shown.map(({ stdout }) => stdout)
    for (const id of ["shop.orders.create", "notes.add_note", "market.prices", "desk.restock"]) {
      expect(list).toContain(id)
    }
    expect(converted).toContain("2182.68")
    expect(watched.match(/price/g)).toHaveLength(5)
  })
})

describe("the demo's sources", () => {
  test("the shop takes orders, and says when there is not enough", async () => {
    const order = { customer: { name: "Ada" }, items: [{ sku: "mug", quantity: 2 }] }
    const placed = await call("shop.orders.create", { body: order })
    expect(placed.body.data).toMatchObject({
      status: "open",
      total: 2400,
      customer: { name: "Ada" },
    })

    const { id } = placed.body.data as { id: number }
    expect((await call("shop.orders.cancel", { id })).body.data).toMatchObject({
      status: "cancelled",
    })
    expect((await call("shop.orders.list", { status: "open" })).body.data).toEqual([])

    const short = await call("shop.orders.create", {
      body: { ...order, items: [{ sku: "tumbler", quantity: 50 }] },
    })
    expect(JSON.stringify(short.body)).toContain(`Only 2 of \\"tumbler\\" are left.`)
    expect((await call("shop.products.get", { sku: "none" })).status).toBeGreaterThanOrEqual(400)
    expect((await call("shop.products.label", { sku: "mug" })).body.data).toContain("<svg")
  })

  test("an operation calls the shop and the notes", async () => {
    const { body } = await call("desk.restock", { below: 5 })
    expect(body.data).toMatchObject({
      products: ["Tumbler, steel (2 left)", "Decaf, 250 g (4 left)"],
      note: { title: "To order", color: "pink" },
    })
    const found = await call("notes.find_notes", { word: "tumbler" })
    expect(found.body.data).toMatchObject({ notes: [{ title: "To order" }] })
  })

  test("notes are read as documents and drawn as pictures", async () => {
    const read = await call("notes.read_note", { id: 1 })
    expect(JSON.stringify(read.body.data)).toContain("# Welcome")
    const drawn = await call("notes.draw_note", { id: 1 })
    const [picture] = drawn.body.data as [{ type: string; mimeType: string; data: string }]
    expect(picture).toMatchObject({ type: "image", mimeType: "image/png" })
    expect(Buffer.from(picture.data, "base64").subarray(1, 4).toString()).toBe("PNG")
  })

  test("the guide on approvals works as it is printed: a person is asked, and approves one call", async () => {
    const guide = await readFile(join(root, "docs/guides/approvals.md"), "utf8")
    const lines = guide.match(/^npm run -s operations .*3000$/gm) ?? []
    expect(lines).toHaveLength(4)
    const { OPERATIONS_HUB: _, ...env } = process.env
    const run = async (line = "", approval = ""): Promise<{ code: number; text: string }> => {
      const command = line.replace("http://127.0.0.1:3000", demo.url).replace("41f0", approval)
      return await new Promise((resolve) => {
        execFile("sh", ["-c", command], { cwd: root, env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
        )
      })
    }
    const asked = await run(lines[0])
    expect(asked.code).toBe(3)
    expect(asked.text).toContain("It cannot be undone.")
    expect((await call("notes.read_note", { id: 1 })).status).toBe(200)

    const { text: list } = await run(lines[1])
    const [, approval = ""] = /^(\w{4})[\w-]+ {2}notes\.clear_notes/m.exec(list) ?? []
    expect((await run(lines[2], approval)).code).toBe(0)
    // Now it runs. The server itself asks as well, and no person is at this terminal.
    expect((await run(lines[3])).text).toContain("asks for")
    // It is used once.
    expect((await call("notes.clear_notes", {})).status).toBe(428)
  })

  test("a bill is split to the cent, unless nobody pays", async () => {
    const people = [{ name: "Ada" }, { name: "Grace", parts: 2 }]
    expect((await call("money.split", { cents: 100, people })).body.data).toEqual([
      { name: "Ada", cents: 33 },
      { name: "Grace", cents: 67 },
    ])
    const nobody = await call("money.split", { cents: 100, people: [{ name: "Ada", parts: 0 }] })
    expect(nobody).toMatchObject({ status: 422, body: { code: "NOBODY_PAYS" } })
  })

  test("the demo also answers commands by itself, and they end", async () => {
    const argv = ["call", "shop.products.list", "category=tea", "--config", CONFIG, "--json"]
    const { code, stdout } = await operations(argv)
    expect(code).toBe(0)
    expect(stdout).toContain("Sencha")

    const doctor = await operations(["doctor", "--config", CONFIG])
    expect(doctor.code).toBe(0)
    // The rules of the demo ask only before something is deleted.
    expect(doctor.stdout).toContain("4 mutations run without being asked about")
    expect(doctor.stdout).toContain("Nothing is wrong, with 1 warning.")
  })
})

describe("the end of the demo", () => {
  test("SIGTERM ends it with 0, and nothing stays behind", async () => {
    const children = descendantsOf(demo.child.pid as number)
    expect(await demo.stop("SIGTERM")).toBe(0)
    expect(demo.stderr()).toContain("Stopping")
    await eventually("no process is left", () => !children.some(isAlive))
  })
})
