import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createTypeApplication, type TypeApplication } from "../../tools/scripts/lib/type-cost.ts"
import { inProcess, overProtocol, type Editor, type OpenEditor } from "../support/editors.ts"

// What a mark stands before is what an editor is asked about.
const MARKED = `
import { createClient, createRegistry, defineOperation, buildEnv } from "@alkdev/operations"
import type { OperationsOf } from "@alkdev/operations"
import { createQueryUtils } from "@alkdev/operations/tanstack-query"
import { Type } from "typebox"
const rest = {
  description: "",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.String() }),
  accessControl: { requiredScopes: [] },
} as const
const list = defineOperation({ ...rest, type: "query", handler: ({ title }) => ({ id: title }) })
export const registry = createRegistry({
  task: {
    /** Adds a task to the list. */
    /*key*/create: defineOperation({ ...rest, type: "mutation", handler: ({ title }) => ({ id: title }) }),
    list,
    watch: defineOperation({ ...rest, type: "subscription", async *handler() {} }),
  },
  shop: { orders: {
    get: list,
  } },
})
// As "operations types" writes it.
interface Routes {
  mail: {
    /** Sends a letter. */
    send: { type: "mutation"; input: { title: string }; output: { id: string }; errors: never }
  }
}
interface Operations { "mail.send": Routes["mail"]["send"] }
declare module "@alkdev/operations" {
  interface RegisteredOperations extends OperationsOf<typeof registry>, Operations {}
  interface RegisteredRoutes extends Routes {}
}
export const client = createClient<typeof registry>(new EventTarget())
await client./*namespace*/task./*client*/create({ title: "x" })
await client.task./*shorthand*/list({ title: "x" })
await client.shop.orders./*nested*/get({ title: "x" })
await buildEnv({ registry }).task./*env*/create({ title: "x" })
createQueryUtils(client).task./*utils*/create.mutationOptions()
await createClient(new EventTarget()).mail./*generated*/send({ title: "x" })
export const copy = defineOperation({
  ...rest,
  type: "mutation",
  handler: async (input, context) => (await context.env.task./*context*/create(input)).data,
})
await registry./*execute*/execute("/*id*/task.create", { title: "x" })
registry./*subscribe*/subscribe("task.watch", { title: "x" })
await registry.execute("/*unknown*/task.")
`

const MARK = /\/\*(\w+)\*\//g
const TEXT = MARKED.replaceAll(MARK, "")
const places = new Map<string, number>()
for (const { 1: name = "", index } of MARKED.matchAll(MARK)) {
  places.set(name, MARKED.slice(0, index).replaceAll(MARK, "").length)
}

function place(name: string): number {
  return places.get(name)!
}

let application: TypeApplication

beforeAll(async () => {
  application = await createTypeApplication()
})

afterAll(() => application[Symbol.asyncDispose]())

// TypeScript 7.0 shows no comments for members of mapped types yet.
describe.each<[string, OpenEditor, boolean]>([
  ["typescript-5.9", inProcess("typescript-5.9"), true],
  ["typescript-6.0", inProcess("typescript-6.0"), true],
  ["typescript", overProtocol, false],
])("an editor with %s", (_compiler, open, showsComments) => {
  let editor: Editor

  beforeAll(async () => {
    editor = await open(await mkdtemp(join(application.folder, "editor-")), TEXT)
  })

  afterAll(() => editor[Symbol.asyncDispose]())

  test.each([
    ["namespace", "task: {"],
    ["client", "create: defineOperation("],
    ["shorthand", "list,"],
    ["nested", "get: list,"],
    ["env", "create: defineOperation("],
    ["utils", "create: defineOperation("],
    ["context", "create: defineOperation("],
    ["generated", "send: { type:"],
  ])("goes from the member of %s to its key", async (name, line) => {
    const found = await editor.definition(place(name))
    expect(found).toContainEqual(expect.stringContaining(line))
  })

  test("finds the calls of an operation from its key", async () => {
    const names = ["client", "env", "utils", "context"]
    expect(await editor.references(place("key"))).toEqual(
      expect.arrayContaining(names.map((name) => place(name))),
    )
  })

  test.each(["client", "env", "context"])("shows the comment of a key for %s", async (name) => {
    const text = await editor.hover(place(name))
    expect(text.includes("Adds a task to the list.")).toBe(showsComments)
    expect(text).toContain("title: string")
  })

  test.each([
    ["execute", "Promise<ResponseEnvelope<"],
    ["subscribe", "EnvelopeStream<"],
  ])("shows input and result of a call with an id, of %s", async (name, result) => {
    const text = (await editor.hover(place(name))).replaceAll(/\\n|\s/g, "")
    expect(text).toContain("input:{title:string;}")
    expect(text).toContain(`${result}{id:string;}`)
  })

  test.each(["id", "unknown"])("completes ids where one is %s", async (name) => {
    const ids = ["task.create", "task.list", "shop.orders.get"]
    expect(await editor.completions(place(name))).toEqual(expect.arrayContaining(ids))
  })
})
