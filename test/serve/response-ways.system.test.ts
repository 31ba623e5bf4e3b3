// What handlers set with `httpResponse`, for callers of every way in.
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { CallError, httpResponse } from "../../src/index.ts"
import type { OperationContext } from "../../src/index.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || way in BROKERS,
)

function respond(context: OperationContext): void {
  const response = httpResponse.read(context)
  response.status = 201
  response.headers.set("location", "/task/1")
  response.headers.append("x-own", "1")
  response.setCookie("sid", "1")
  response.deleteCookie("old")
}

const operations = [
  operation("task.create", {
    type: "mutation",
    outputSchema: Type.Object({ ok: Type.Boolean() }),
    handler: (_: unknown, context: OperationContext) => {
      respond(context)
      return { ok: true }
    },
  }),
  operation("task.fail", {
    type: "mutation",
    handler: (_: unknown, context: OperationContext) => {
      respond(context)
      throw new CallError("FULL", "It is full.")
    },
  }),
  operation("task.wrong", {
    type: "mutation",
    handler: (_: unknown, context: OperationContext) => {
      httpResponse.read(context).status = 404
    },
  }),
  operation("task.watch", {
    type: "subscription",
    async *handler(_: unknown, context: OperationContext) {
      respond(context)
      yield 1
      yield 2
    },
  }),
]

describe.each(WAYS)("over %s", (way) => {
  test("results, errors and streams are the same with httpResponse as without", async () => {
    await using broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(way, terms)
    expect((await surface.call("task.create")).data).toEqual({ ok: true })
    expect(await surface.call("task.fail")).toMatchObject({ code: "FULL", message: "It is full." })
    expect((await surface.call("task.wrong")).code).toBe("EXECUTION_ERROR")
    const stream = await surface.stream?.("task.watch")
    if (stream === undefined) return
    // A tool returns all items at once.
    const { items = stream.items } = (stream.data ?? {}) as { items?: unknown }
    expect(items).toEqual([1, 2])
  })
})
