import type { TSchema } from "typebox"
import { FromSchema } from "../../schema/from-schema.ts"
import { frozenCopy } from "../../internal/frozen.ts"
import type { LazyOperation } from "../../core/lazy-operation.ts"
import { isRecord, nonEmpty } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import type { OperationContext } from "../../core/handler.ts"
import { depthOf } from "../../mcp/canonical.ts"
import type { MCPResourceDefinition } from "../../mcp/model.ts"
import { distinctNames } from "../../mcp/names.ts"
import { plainOperation } from "./plain-operation.ts"
import type { OperationServer } from "./tool-operation.ts"
import { parseUriTemplate, type TemplateValue, type UriTemplate } from "./uri-template.ts"

/** Dependencies of resource operations. */
export interface ResourceOperationOptions {
  readonly server: Omit<OperationServer, "trust" | "tools">
  /** Reads a resource; returns the result of the operation. */
  readonly read: (uri: string, context: OperationContext, operationId: string) => unknown
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

/** The namespace of a server's resources. */
export function resourceNamespace(server: string): string {
  return `${server}-resources`
}

/**
 * Creates one query per resource, without input, and one per template, with its variables as input.
 *
 * If several have the same name, the hash of their address is appended, independent of the order of the list.
 */
export function resourceOperations(
  resources: readonly unknown[],
  templates: readonly unknown[],
  options: ResourceOperationOptions,
): readonly LazyOperation[] {
  const byKey = new Map<string, Address>()
  for (const value of [...resources, ...templates]) {
    const address = readAddress(value)
    if (typeof address === "string") {
      options.warn?.(`A resource of MCP server "${options.server.name}" was left out: ${address}.`)
    } else if (!byKey.has(address.key)) {
      byKey.set(address.key, address)
    }
  }
  const addresses = [...byKey.values()]
  const names = distinctNames(
    addresses.map(({ definition, key }) => ({ name: definition.name, key })),
  )
  return addresses.map((address, index) => resourceOperation(names[index] ?? "", address, options))
}

/** A definition and its URI or template. */
interface Address {
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
  const definition = frozenCopy({ ...value, name }) as MCPResourceDefinition
  if (typeof uri === "string") return { definition, key, template: undefined }
  const template = parseUriTemplate(key)
  return typeof template === "string"
    ? `its template cannot be used: ${template}`
    : { definition, key, template }
}

function resourceOperation(
  name: string,
  { definition, key, template }: Address,
  { server, read }: ResourceOperationOptions,
): LazyOperation {
  const { title, description, mimeType, size, _meta } = definition
  return plainOperation(
    {
      name,
      namespace: resourceNamespace(server.name),
      title: nonEmpty(title),
      description: nonEmpty(description) ?? nonEmpty(title) ?? `The resource ${key}.`,
      inputSchema: template === undefined ? NO_INPUT : inputOf(template),
      outputSchema: CONTENTS,
      inputNames: template?.variables.map((variable) => variable.name) ?? [],
      handler: (input, context) =>
        read(
          template === undefined ? key : template.expand((input ?? {}) as Values),
          context,
          `${resourceNamespace(server.name)}.${name}`,
        ),
      own: isRecord(_meta) ? _meta : undefined,
      origin: {
        server: server.name,
        kind: template === undefined ? "resource" : "resourceTemplate",
        ...(template === undefined ? { uri: key } : { uriTemplate: key }),
        ...(nonEmpty(mimeType) !== undefined && { mimeType }),
        ...(typeof size === "number" && { size }),
      },
    },
    server,
  )
}

type Values = Readonly<Record<string, TemplateValue | undefined>>

function inputOf({ variables }: UriTemplate): TSchema {
  const properties = {}
  for (const { name, isExploded } of variables) {
    const text = { type: "string" }
    const list = { anyOf: [text, { type: "array", items: text }] }
    setOwn(properties, name, isExploded ? list : text)
  }
  const required = variables.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return FromSchema({ type: "object", properties, required, additionalProperties: false })
}
