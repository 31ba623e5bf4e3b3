import { describe, expect, test } from "vitest"
import { createClient, defineContextValue, serveCalls } from "../../src/index.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import type { OperationContext } from "../../src/index.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"

const tenant = defineContextValue<{ readonly id: string } | undefined>("tenant")

/** Says its tenant, and that of a nested call. */
function registryOf() {
  return quietRegistry([
    operation("note.who", { handler: (_input: never, context) => tenant.read(context) }),
    operation("note.ask", {
      handler: async (_input: never, context: OperationContext) =>
        (await context.call("note.who")).data,
    }),
  ])
}

describe("a context value", () => {
  test("is read by handlers of calls and nested calls, in every attempt, next to metadata of the caller", async () => {
    await using registry = registryOf()
    registry.use((call, next) => next({ metadata: tenant.provide({ id: `of ${call.attempt}` }) }))
    registry.use((call, next) => {
      expect(tenant.read(call)).toEqual({ id: "of 1" })
      expect(call.metadata).toMatchObject(call.operationId === "note.who" ? {} : { own: 1 })
      return next({}).catch(() => next({}))
    })
    const options = { metadata: { own: 1, tenant: "forged" } }
    expect((await registry.execute("note.ask", {}, options)).data).toEqual({ id: "of 1" })
  })

  test("may be undefined; without any, reading it says what is missing", async () => {
    await using registry = registryOf()
    expect(await rejection(registry.execute("note.who", {}))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining('"tenant" was not provided') as string,
    })
    registry.use((_call, next) => next({ metadata: tenant.provide(undefined) }))
    expect((await registry.execute("note.who", {})).data).toBeUndefined()
  })

  test("is not that of another definition with the same name", () => {
    const other = defineContextValue<string>("tenant")
    expect(() => other.read({ metadata: tenant.provide(undefined) })).toThrow("was not provided")
  })

  test("is not sent over a wire", async () => {
    await using registry = registryOf()
    const { port1, port2 } = new MessageChannel()
    const server = serveCalls(registry, { transport: createWorkerTransport(port1) })
    const client = createClient(createWorkerTransport(port2))
    const metadata = { ...tenant.provide({ id: "forged" }), own: 1 }
    const call = client.call("note.who", {}, { metadata })
    expect(await rejection(call)).toMatchObject({ code: "EXECUTION_ERROR" })
    await client.close()
    await server.close()
  })
})
