import type { TSchema } from "typebox"
import { FromSchema } from "../../schema/from-schema.ts"
import type { LazyOperation } from "../../core/lazy-operation.ts"
import { isRecord, nonEmpty } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import type { OperationContext } from "../../core/handler.ts"
import { operationName } from "../../mcp/names.ts"
import { plainOperation } from "./plain-operation.ts"
import type { OperationServer } from "./tool-operation.ts"

/** Dependencies of prompt operations. */
export interface PromptOperationOptions {
  readonly server: Omit<OperationServer, "trust" | "tools">
  /** Gets a prompt by the server's own name; returns the result of the operation. */
  readonly get: (
    name: string,
    input: Readonly<Record<string, string>>,
    context: OperationContext,
    operationId: string,
  ) => unknown
  /** Receives warnings about invalid definitions. */
  readonly warn?: ((message: string) => void) | undefined
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

/** The namespace of a server's prompts. */
export function promptNamespace(server: string): string {
  return `${server}-prompts`
}

/** Creates one query per prompt; its arguments, which are strings, are the input. The first of a name is used. */
export function promptOperations(
  prompts: readonly unknown[],
  options: PromptOperationOptions,
): readonly LazyOperation[] {
  const operations = new Map<string, LazyOperation>()
  for (const value of prompts) {
    const name = isRecord(value) ? nonEmpty(value["name"]) : undefined
    const issue =
      name === undefined
        ? "it has no name"
        : operations.has(name)
          ? `"${name}" is listed twice`
          : ""
    if (isRecord(value) && name !== undefined && issue === "") {
      operations.set(name, promptOperation(name, value, options))
    } else {
      options.warn?.(`A prompt of MCP server "${options.server.name}" was left out: ${issue}.`)
    }
  }
  return [...operations.values()]
}

interface Argument {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly isRequired: boolean
}

function promptOperation(
  name: string,
  definition: Readonly<Record<string, unknown>>,
  { server, get }: PromptOperationOptions,
): LazyOperation {
  const title = nonEmpty(definition["title"])
  const taken = argumentsOf(definition["arguments"])
  const { _meta: own } = definition
  return plainOperation(
    {
      name: operationName(name),
      namespace: promptNamespace(server.name),
      title,
      description:
        nonEmpty(definition["description"]) ??
        title ??
        `Prompt "${name}" of the MCP server "${server.name}".`,
      inputSchema: inputOf(taken),
      outputSchema: MESSAGES,
      inputNames: taken.map((argument) => argument.name),
      handler: (input, context) =>
        get(
          name,
          (input ?? {}) as Readonly<Record<string, string>>,
          context,
          `${promptNamespace(server.name)}.${operationName(name)}`,
        ),
      own: isRecord(own) ? own : undefined,
      origin: { server: server.name, kind: "prompt", prompt: name },
    },
    server,
  )
}

function argumentsOf(value: unknown): readonly Argument[] {
  const byName = new Map<string, Argument>()
  for (const item of Array.isArray(value) ? (value as unknown[]) : []) {
    const name = isRecord(item) ? nonEmpty(item["name"]) : undefined
    if (!isRecord(item) || name === undefined || byName.has(name)) continue
    byName.set(name, {
      name,
      title: nonEmpty(item["title"]),
      description: nonEmpty(item["description"]),
      isRequired: item["required"] === true,
    })
  }
  return [...byName.values()]
}

function inputOf(taken: readonly Argument[]): TSchema {
  const properties = {}
  for (const { name, title, description } of taken) {
    setOwn(properties, name, {
      type: "string",
      ...(title && { title }),
      ...(description && { description }),
    })
  }
  const required = taken.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return FromSchema({
    type: "object",
    properties,
    required,
    // A server may accept undeclared arguments, which are strings too.
    additionalProperties: { type: "string" },
  })
}
