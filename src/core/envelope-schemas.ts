import type { TSchema } from "typebox"
import type { JsonSchema } from "../schema/json.ts"

const text = { type: "string" } as const
const free = { type: "object" } as const

export const MCPAnnotationsSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    audience: { type: "array", items: { type: "string", enum: ["user", "assistant"] } },
    priority: { type: "number" },
    lastModified: text,
  },
}

const extras = { annotations: MCPAnnotationsSchema, _meta: free }

export const MCPContentBlockSchema: TSchema & JsonSchema = {
  anyOf: [
    /* @__PURE__ */ block("text", { text }),
    /* @__PURE__ */ block("image", { data: text, mimeType: text }),
    /* @__PURE__ */ block("audio", { data: text, mimeType: text }),
    /* @__PURE__ */ block("resource", {
      resource: {
        type: "object",
        properties: { uri: text, mimeType: text, text, blob: text, _meta: free },
        required: ["uri"],
      },
    }),
    /* @__PURE__ */ block(
      "resource_link",
      { uri: text, name: text },
      {
        title: text,
        description: text,
        mimeType: text,
        size: { type: "number" },
        icons: { type: "array", items: free },
      },
    ),
  ],
}

export const LocalResponseMetaSchema: TSchema & JsonSchema = /* @__PURE__ */ meta(
  "local",
  { operationId: text, timestamp: { type: "number" } },
  {},
)

export const HTTPResponseMetaSchema: TSchema & JsonSchema = /* @__PURE__ */ meta(
  "http",
  {
    statusCode: { type: "number" },
    headers: { type: "object", additionalProperties: text },
    contentType: text,
  },
  { event: { type: "object", properties: { name: text, id: text, retry: { type: "number" } } } },
)

export const MCPResponseMetaSchema: TSchema & JsonSchema = /* @__PURE__ */ meta(
  "mcp",
  { isError: { type: "boolean" }, content: { type: "array", items: MCPContentBlockSchema } },
  {
    structuredContent: {},
    _meta: free,
    server: text,
    tool: text,
    serverInfo: { type: "object", properties: { name: text, version: text } },
    protocolVersion: text,
    era: { type: "string", enum: ["legacy", "modern"] },
    durationMs: { type: "number" },
    structuredFrom: { const: "text" },
    unknownBlocks: { type: "array" },
  },
)

export const ResponseMetaSchema: TSchema & JsonSchema = {
  anyOf: [LocalResponseMetaSchema, HTTPResponseMetaSchema, MCPResponseMetaSchema],
}

/** `data` is not required: the envelope of a void result has none after JSON. */
export const ResponseEnvelopeSchema: TSchema & JsonSchema = {
  type: "object",
  properties: { data: {}, meta: ResponseMetaSchema },
  required: ["meta"],
}

/** The metadata of a source, with the members that policies add. */
function meta(
  source: string,
  fields: Record<string, JsonSchema>,
  optional: Record<string, JsonSchema>,
): TSchema & JsonSchema {
  const age = { type: "number" } as const
  const state: JsonSchema = { type: "string", enum: ["fresh", "stale"] }
  const added: Record<string, JsonSchema> = {
    attempts: { type: "integer", minimum: 1 },
    cache: { type: "object", properties: { age, state }, required: ["age", "state"] },
    fallback: { const: true },
    replayed: { const: true },
  }
  return {
    type: "object",
    properties: { source: { const: source }, ...fields, ...optional, ...added },
    required: ["source", ...Object.keys(fields)],
  }
}

function block(
  type: string,
  fields: Record<string, TSchema>,
  optional?: Record<string, TSchema>,
): TSchema {
  return {
    type: "object",
    properties: { type: { const: type }, ...fields, ...optional, ...extras },
    required: ["type", ...Object.keys(fields)],
  }
}
