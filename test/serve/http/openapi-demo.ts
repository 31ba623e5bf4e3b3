import { Type } from "typebox"
import type { AnyOperation } from "../../../src/index.ts"
import { count, greet, operation } from "../../support/operations.ts"

const Task = Type.Object({
  id: Type.String(),
  title: Type.String({ minLength: 1 }),
  done: Type.Boolean(),
})
const Tree = {
  $ref: "#/$defs/Tree",
  $defs: {
    Tree: {
      type: "object",
      properties: {
        label: { type: "string" },
        kids: { type: "array", items: { $ref: "#/$defs/Tree" } },
      },
      required: ["label"],
    },
  },
}

/** A small task service with a bit of everything that a document can show. */
export const demo: readonly AnyOperation[] = [
  greet,
  count,
  operation("task.create", {
    title: "Create a task",
    tags: ["tasks", "writing"],
    inputSchema: Type.Object({ title: Type.String({ minLength: 1 }) }),
    outputSchema: Task,
    errorSchemas: [
      {
        code: "TITLE_TAKEN",
        description: "There is such a task",
        schema: Type.Object({ existing: Type.String() }),
        httpStatus: 409,
      },
      { code: "LIST_FULL", description: "", schema: Type.Object({ limit: Type.Number() }) },
    ],
    accessControl: { requiredScopes: ["task:write"] },
    examples: [{ title: "Milk" }],
    handler: () => ({ id: "1", title: "Milk", done: false }),
  }),
  operation("task.list", {
    type: "query",
    inputSchema: Type.Object(
      {
        text: Type.Optional(Type.String({ description: "What to look for" })),
        limit: Type.Integer({ minimum: 1, maximum: 100 }),
        done: Type.Optional(Type.Boolean()),
        ids: Type.Optional(Type.Array(Type.String())),
        range: Type.Optional(Type.Object({ from: Type.Number(), to: Type.Number() })),
        either: Type.Optional(Type.Union([Type.String(), Type.Number()])),
      },
      { additionalProperties: false },
    ),
    outputSchema: Type.Array(Task),
    accessControl: { requiredScopes: [], requiredScopesAny: ["task:read", "task:write"] },
    deprecation: {
      since: "2026-03-01",
      sunset: "2026-09-01",
      replacedBy: "task.find",
      link: "https://example.com/changes",
    },
    handler: () => [],
  }),
  operation("task.find", {
    type: "query",
    inputSchema: Type.Object({ title: Type.Union([Type.String(), Type.Null()]) }),
    outputSchema: Type.Union([Task, Type.Void()]),
    handler: () => undefined,
  }),
  operation("task.remove", {
    inputSchema: Type.Object({ id: Type.String() }),
    outputSchema: Type.Void(),
    handler: () => undefined,
  }),
  operation("task.tick", {
    type: "subscription",
    inputSchema: Type.Void(),
    outputSchema: Type.Object({ data: Type.String(), id: Type.Number() }),
    async *handler() {},
  }),
  operation("tree.put", {
    inputSchema: Tree,
    outputSchema: { type: "array", items: { $ref: "#/$defs/Tree" }, $defs: Tree.$defs },
    handler: () => [],
  }),
  operation("tree.other", {
    inputSchema: {
      type: "object",
      properties: { me: { $ref: "#" }, tree: { $ref: "#/$defs/Tree" } },
      $defs: { Tree: { type: "string" } },
    },
    outputSchema: Type.Unknown(),
    handler: () => 1,
  }),
  operation("secret.inner", { visibility: "internal", handler: () => 1 }),
]
