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

// Members that policies add to the metadata of every source. Listed by name, because bundlers keep an unused
// spread.
const attempts = { type: "integer", minimum: 1 } as const
const cache: JsonSchema = {
  type: "object",
  properties: { age: { type: "number" }, state: { type: "string", enum: ["fresh", "stale"] } },
  required: ["age", "state"],
}
const fallback = { const: true } as const
const replayed = { const: true } as const

export const LocalResponseMetaSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    source: { const: "local" },
    operationId: text,
    timestamp: { type: "number" },
    attempts,
    cache,
    fallback,
    replayed,
  },
  required: ["source", "operationId", "timestamp"],
}

export const HTTPResponseMetaSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    source: { const: "http" },
    statusCode: { type: "number" },
    headers: { type: "object", additionalProperties: text },
    contentType: text,
    event: { type: "object", properties: { name: text, id: text, retry: { type: "number" } } },
    attempts,
    cache,
    fallback,
    replayed,
  },
  required: ["source", "statusCode", "headers", "contentType"],
}

export const MCPResponseMetaSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    source: { const: "mcp" },
    isError: { type: "boolean" },
    content: { type: "array", items: MCPContentBlockSchema },
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
    attempts,
    cache,
    fallback,
    replayed,
  },
  required: ["source", "isError", "content"],
}

export const ResponseMetaSchema: TSchema & JsonSchema = {
  anyOf: [LocalResponseMetaSchema, HTTPResponseMetaSchema, MCPResponseMetaSchema],
}

/** `data` is not required: the envelope of a void result has none after JSON. */
export const ResponseEnvelopeSchema: TSchema & JsonSchema = {
  type: "object",
  properties: { data: {}, meta: ResponseMetaSchema },
  required: ["meta"],
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
