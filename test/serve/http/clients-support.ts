import { Type } from "typebox"
import { defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"

const base = { version: "1.0.0", description: "Of a test", accessControl: { requiredScopes: [] } }

const Task = Type.Object({ title: Type.String(), tags: Type.Array(Type.String()) })

/** What the stream of a test went through. */
export interface News {
  readonly resumedFrom: (string | undefined)[]
  stopped: number
}

/** A few operations of the kind that clients of all sorts call. */
export function createTasks(): { readonly registry: AnyRegistry; readonly news: News } {
  const news: News = { resumedFrom: [], stopped: 0 }
  const registry = createRegistry(
    [
      defineOperation({
        ...base,
        namespace: "task",
        name: "find",
        type: "query",
        inputSchema: Type.Object({
          text: Type.String(),
          limit: Type.Optional(Type.Integer({ minimum: 1 })),
          tags: Type.Optional(Type.Array(Type.String())),
          isOpen: Type.Optional(Type.Boolean()),
        }),
        outputSchema: Type.Object({ asked: Type.Unknown(), found: Type.Array(Task) }),
        handler: (asked) => ({ asked, found: [{ title: asked.text, tags: asked.tags ?? [] }] }),
      }),
      defineOperation({
        ...base,
        namespace: "task",
        name: "create",
        type: "mutation",
        inputSchema: Type.Object({ title: Type.String({ minLength: 1 }) }),
        outputSchema: Task,
        errorSchemas: [
          {
            code: "TITLE_TAKEN",
            description: "There is such a task",
            httpStatus: 409,
            schema: Type.Object({ title: Type.String() }),
          },
        ],
        handler: ({ title }) => {
          if (title !== "taken") return { title, tags: [] }
          throw Object.assign(new Error("There is such a task."), {
            code: "TITLE_TAKEN",
            details: { title },
          })
        },
      }),
      defineOperation({
        ...base,
        namespace: "task",
        name: "clear",
        type: "mutation",
        inputSchema: Type.Object({}),
        outputSchema: Type.Void(),
        handler: () => undefined,
      }),
      defineOperation({
        ...base,
        namespace: "news",
        name: "count",
        type: "subscription",
        inputSchema: Type.Object({ to: Type.Integer({ maximum: 100_000 }) }),
        outputSchema: Type.Object({ at: Type.Integer(), text: Type.String() }),
        async *handler({ to }, { metadata }) {
          const last = metadata?.["lastEventId"] as string | undefined
          news.resumedFrom.push(last)
          const from = Number(last ?? 0)
          for (let at = from + 1; at <= from + to; at++) yield { at, text: "a\n\nb\r\u2028é" }
        },
      }),
      defineOperation({
        ...base,
        namespace: "news",
        name: "broken",
        type: "subscription",
        inputSchema: Type.Object({}),
        outputSchema: Type.Object({ at: Type.Integer() }),
        async *handler() {
          yield { at: 1 }
          throw new Error("The wire is cut.")
        },
      }),
      defineOperation({
        ...base,
        namespace: "news",
        name: "wait",
        type: "subscription",
        inputSchema: Type.Object({}),
        outputSchema: Type.Object({ at: Type.Integer() }),
        async *handler(_, { signal }) {
          yield { at: 1 }
          await new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => resolve())
          })
          news.stopped++
        },
      }),
    ],
    { logger: silentLogger },
  ) as unknown as AnyRegistry
  return { registry, news }
}
