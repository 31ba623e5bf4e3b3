// The resources and prompts of a server as queries.

import type { TSchema } from "typebox"
import { idOf } from "../../core/define.ts"
import type { OperationContext } from "../../core/handler.ts"
import { lazyOperation, type LazyOperation, type LazyParts } from "../../core/lazy-operation.ts"
import { frozenCopy } from "../../internal/frozen.ts"
import { isRecord, nonEmpty } from "../../internal/guards.ts"
import { depthOf } from "../../mcp/canonical.ts"
import type { JsonObject, MCPOrigin, MCPResourceDefinition } from "../../mcp/model.ts"
import { distinctNames, operationName } from "../../mcp/names.ts"
import { setUpstream, type MCPUpstream } from "../../mcp/upstream.ts"
import { FromSchema } from "../../schema/from-schema.ts"
import type { MCPSkill } from "../../core/skill.ts"
import { readSkills } from "./read-skills.ts"
import { setOwn } from "../../schema/json.ts"
import type { OperationServer } from "./tool-operation.ts"
import { parseUriTemplate, type TemplateValue, type UriTemplate } from "../../mcp/uri-template.ts"

/** Dependencies of the operations of resources and prompts. */
export interface ExtraOperationOptions {
  readonly server: Omit<OperationServer, "trust" | "tools">
  /** Requests a resource by its address, or a prompt by the server's own name; returns the result of the operation. */
  readonly request: (
    subject: string,
    input: Readonly<Record<string, string>>,
    context: OperationContext,
    operationId: string,
  ) => unknown
  /** The entries of skills, whose files are resources. */
  readonly skills?: readonly unknown[] | undefined
  /** The server, for subscriptions and completion. */
  readonly upstream?: MCPUpstream | undefined
  /** Receives warnings about invalid definitions. */
  readonly warn?: ((message: string) => void) | undefined
}

const MAX_DEPTH = 500

const NO_INPUT = FromSchema({ type: "object", properties: {} })

const CONTENTS = FromSchema({
  type: "object",
  properties: {
    contents: {
      type: "array",
      items: {
        type: "object",
        properties: {
          uri: { type: "string" },
          mimeType: { type: "string" },
          text: { type: "string" },
          blob: { type: "string", description: "Bytes in base64." },
        },
        required: ["uri"],
      },
    },
  },
  required: ["contents"],
})

/**
 * Creates one query per resource, without input, and one per template, with its variables as input.
 *
 * If several have the same name, the hash of their address is appended, independent of the order of the list.
 */
export function resourceOperations(
  definitions: readonly unknown[],
  options: ExtraOperationOptions,
): readonly LazyOperation[] {
  const byKey = new Map<string, Address>()
  const { skills, missing } = readSkills(definitions, options)
  for (const value of [...definitions, ...missing]) {
    const address = readAddress(value)
    if (typeof address === "string") {
      options.warn?.(`A resource of MCP server "${options.server.name}" was left out: ${address}.`)
    } else if (!byKey.has(address.key)) {
      byKey.set(address.key, address)
    }
  }
  const addresses = [...byKey.values()]
  const names = distinctNames(addresses)
  return addresses.map((address, index) =>
    resourceOperation(names[index] ?? "", address, options, skills.get(address.key)),
  )
}

/** A definition and its URI or template. */
interface Address {
  readonly name: string
  readonly definition: MCPResourceDefinition
  readonly key: string
  readonly template: UriTemplate | undefined
}

function readAddress(value: unknown): Address | string {
  if (!isRecord(value)) return "it is not an object"
  if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`
  const { uri, uriTemplate } = value
  const key = typeof uri === "string" ? uri : uriTemplate
  if (typeof key !== "string" || key === "") return `it has neither "uri" nor "uriTemplate"`
  const name = nonEmpty(value["name"]) ?? key
  const definition = frozenCopy(value) as MCPResourceDefinition
  if (typeof uri === "string") return { name, definition, key, template: undefined }
  const template = parseUriTemplate(key)
  return typeof template === "string"
    ? `its template cannot be used: ${template}`
    : { name, definition, key, template }
}

function resourceOperation(
  name: string,
  { definition, key, template }: Address,
  { server, request, upstream }: ExtraOperationOptions,
  skill: MCPSkill | undefined,
): LazyOperation {
  const { title, description, mimeType, size, _meta } = definition
  return plainOperation(
    {
      name,
      namespace: `${server.name}-resources`,
      title: nonEmpty(title),
      description: nonEmpty(description) ?? nonEmpty(title) ?? `The resource ${key}.`,
      inputSchema: template === undefined ? NO_INPUT : templateInput(template),
      outputSchema: CONTENTS,
      inputNames: template?.variables.map((variable) => variable.name) ?? [],
      run: (input, context, operationId) =>
        request(template?.expand(input as Values) ?? key, {}, context, operationId),
      own: isRecord(_meta) ? _meta : undefined,
      origin: {
        server: server.name,
        kind: template === undefined ? "resource" : "resourceTemplate",
        ...(template === undefined ? { uri: key } : { uriTemplate: key }),
        ...(nonEmpty(mimeType) !== undefined && { mimeType }),
        ...(typeof size === "number" && { size }),
        definition: definition as unknown as JsonObject,
        ...(skill !== undefined && { skill }),
      },
      upstream,
    },
    server,
  )
}

type Values = Readonly<Record<string, TemplateValue | undefined>>

function templateInput({ variables }: UriTemplate): TSchema {
  const properties = {}
  for (const { name, isExploded } of variables) {
    const text = { type: "string" }
    const list = { anyOf: [text, { type: "array", items: text }] }
    setOwn(properties, name, isExploded ? list : text)
  }
  const required = variables.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return FromSchema({ type: "object", properties, required, additionalProperties: false })
}

const MESSAGES = FromSchema({
  type: "object",
  properties: {
    description: { type: "string" },
    messages: {
      type: "array",
      items: {
        type: "object",
        properties: { role: { type: "string" }, content: {} },
        required: ["role", "content"],
      },
    },
  },
  required: ["messages"],
})

/** Creates one query per prompt; its arguments, which are strings, are the input. The first of a name is used. */
export function promptOperations(
  prompts: readonly unknown[],
  options: ExtraOperationOptions,
): readonly LazyOperation[] {
  const operations = new Map<string, LazyOperation>()
  for (const value of prompts) {
    const name = isRecord(value) ? nonEmpty(value["name"]) : undefined
    let issue: string | undefined
    if (!isRecord(value) || name === undefined) issue = "it has no name"
    else if (operations.has(name)) issue = `"${name}" is listed twice`
    else if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) {
      issue = `it is nested deeper than ${MAX_DEPTH} levels`
    } else operations.set(name, promptOperation(name, value, options))
    if (issue !== undefined) {
      options.warn?.(`A prompt of MCP server "${options.server.name}" was left out: ${issue}.`)
    }
  }
  return [...operations.values()]
}

function promptOperation(
  name: string,
  definition: JsonObject,
  { server, request, upstream }: ExtraOperationOptions,
): LazyOperation {
  const title = nonEmpty(definition["title"])
  const taken = argumentsOf(definition["arguments"])
  const { _meta: own } = definition
  return plainOperation(
    {
      name: operationName(name),
      namespace: `${server.name}-prompts`,
      title,
      description:
        nonEmpty(definition["description"]) ??
        title ??
        `Prompt "${name}" of the MCP server "${server.name}".`,
      inputSchema: promptInput(taken),
      outputSchema: MESSAGES,
      inputNames: [...taken.keys()],
      run: (input, context, operationId) =>
        request(name, input as Readonly<Record<string, string>>, context, operationId),
      own: isRecord(own) ? own : undefined,
      origin: {
        server: server.name,
        kind: "prompt",
        prompt: name,
        definition: frozenCopy(definition) as JsonObject,
      },
      upstream,
    },
    server,
  )
}

/** The declared arguments by name; the first of a name is used. */
function argumentsOf(value: unknown): ReadonlyMap<string, JsonObject> {
  const byName = new Map<string, JsonObject>()
  for (const item of Array.isArray(value) ? (value as unknown[]) : []) {
    const name = isRecord(item) ? nonEmpty(item["name"]) : undefined
    if (isRecord(item) && name !== undefined && !byName.has(name)) byName.set(name, item)
  }
  return byName
}

function promptInput(taken: ReadonlyMap<string, JsonObject>): TSchema {
  const properties = {}
  const required: string[] = []
  for (const [name, item] of taken) {
    const title = nonEmpty(item["title"])
    const description = nonEmpty(item["description"])
    const texts = { ...(title && { title }), ...(description && { description }) }
    setOwn(properties, name, { type: "string", ...texts })
    if (item["required"] === true) required.push(name)
  }
  // A server may accept undeclared arguments, which are strings too.
  const additionalProperties = { type: "string" }
  return FromSchema({ type: "object", properties, required, additionalProperties })
}

/** The parts of an operation for a resource or a prompt. */
interface PlainParts extends Pick<
  LazyParts,
  "name" | "namespace" | "title" | "description" | "inputSchema" | "outputSchema" | "inputNames"
> {
  readonly run: (input: unknown, context: OperationContext, operationId: string) => unknown
  /** The `_meta` of the definition. */
  readonly own: Readonly<Record<string, unknown>> | undefined
  readonly origin: MCPOrigin & Readonly<Record<string, unknown>>
  readonly upstream: MCPUpstream | undefined
}

/** Creates the query for a resource or a prompt; reading never has an effect. */
function plainOperation(
  { own, origin, upstream, run, ...parts }: PlainParts,
  server: Omit<OperationServer, "trust" | "tools">,
): LazyOperation {
  Object.freeze(origin)
  if (upstream !== undefined) setUpstream(origin, upstream)
  return lazyOperation({
    ...parts,
    handler: (input, context) => run(input ?? {}, context, idOf(parts)),
    version: server.version,
    type: "query",
    accessControl: server.accessControl,
    visibility: server.visibility,
    annotations: Object.freeze({ readOnly: true }),
    policy: {
      normalize: server.normalize ?? "off",
      output: server.output,
      defaults: "leave",
      timeout: server.maxTotalTimeout,
      imported: true,
    },
    _meta: Object.freeze({ ...own, mcp: origin }),
  })
}
