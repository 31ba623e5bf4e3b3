// The operations that the referee calls when it examines a server; their names and answers are its own.

import { setTimeout as pause } from "node:timers/promises"
import { Type } from "typebox"
import type { TSchema } from "typebox"
import { createRegistry, mcpEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  MCPContentBlock,
  OperationContext,
  OperationRegistry,
  ResponseEnvelope,
} from "../../src/index.ts"
import { ENUMS_FORM, EVERY_DEFAULT_FORM, FORM_OF_2020_12 } from "./schemas.ts"

type Handler = (input: Readonly<Record<string, unknown>>, context: OperationContext) => unknown

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const PIXEL_BYTES = Buffer.from(PIXEL, "base64")
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

const image: MCPContentBlock = { type: "image", data: PIXEL, mimeType: "image/png" }

/** A registry with everything that the referee asks for. */
export function conformanceRegistry(): OperationRegistry {
  const registry: OperationRegistry = createRegistry([], { logger: silentLogger })
  const add = (name: string, handler: Handler, inputSchema: TSchema = Type.Object({})): void => {
    registry.registerAll([operation("test", name, handler, inputSchema)])
  }

  add("simple_text", () => "This is a simple text response for testing.")
  add("image_content", () => blocks(image))
  add("audio_content", () => blocks({ type: "audio", data: SILENCE, mimeType: "audio/wav" }))
  add("embedded_resource", () =>
    blocks(resource("test://embedded-resource", "text/plain", "An embedded resource.")),
  )
  add("multiple_content_types", () =>
    blocks(
      { type: "text", text: "Multiple content types test:" },
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  )
  add("error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing")
  })
  add("tool_with_progress", async (_, { progress }) => {
    for (const at of [0, 50, 100]) {
      progress({ progress: at, total: 100 })
      await pause(50)
    }
    return "Done."
  })
  add("tool_with_logging", async (_, { log }) => {
    for (const line of ["started", "processing data", "completed"]) {
      log.info(`Tool execution ${line}`)
      await pause(50)
    }
    return "Done."
  })
  add("logging_tool", (_, { log }) => {
    log.info("Only for those who asked for it.")
    return "Done."
  })
  add("x_mcp_header", ({ region }) => `In ${String(region)}.`, headerSchema())
  let changes = 0
  add("trigger_tool_change", () => {
    const changed = operation("test", "changed", () => "New.", Type.Object({}))
    registry.unregister("test.changed")
    registry.registerAll([{ ...changed, description: `Changed ${++changes} times` }])
    return "Changed."
  })
  addQuestions(add)
  addResources(registry)
  addPrompts(registry)
  const rich = FORM_OF_2020_12 as TSchema
  registry.registerAll([operation("json", "schema_2020_12_tool", (input) => input, rich)])
  return registry
}

/** The resources that the referee reads. */
function addResources(registry: OperationRegistry): void {
  const add = (name: string, uri: string, handler: Handler, inputSchema?: TSchema): void => {
    const one = operation("test", name, handler, inputSchema ?? Type.Object({}))
    registry.registerAll([{ ...one, type: "query", mcp: { as: "resource", uri } }])
  }
  add("static_text", "test://static-text", () => "This is the content of the static text resource.")
  add("static_binary", "test://static-binary", () => new Blob([PIXEL_BYTES], { type: "image/png" }))
  add("watched", "test://watched-resource", () => "Watched resource content")
  const id = Type.Object({ id: Type.String() })
  const read: Handler = (input) => ({ id: input["id"], templateTest: true, data: "Data" })
  add("template", "test://template/{id}/data", read, id)
}

/** The prompts that the referee gets. */
function addPrompts(registry: OperationRegistry): void {
  const texts = (...names: string[]): TSchema =>
    Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()])))
  const add = (name: string, handler: Handler, inputSchema: TSchema = Type.Object({})): void => {
    const one = operation("test", name, handler, inputSchema)
    registry.registerAll([{ ...one, type: "query", mcp: { as: "prompt" } }])
  }
  add("simple_prompt", () => "This is a simple prompt for testing.")
  add(
    "prompt_with_arguments",
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`,
    texts("arg1", "arg2"),
  )
  add(
    "prompt_with_embedded_resource",
    ({ resourceUri }) =>
      blocks(resource(String(resourceUri), "text/plain", "An embedded resource."), {
        type: "text",
        text: "Please process the embedded resource above.",
      }),
    texts("resourceUri"),
  )
  add("prompt_with_image", () => blocks(image, { type: "text", text: "Please analyze the image." }))
  let changes = 0
  const changed = operation(
    "test",
    "trigger_prompt_change",
    () => {
      const prompt = operation("test", "changed_prompt", () => "New.", Type.Object({}))
      registry.unregister("test.changed_prompt")
      const description = `Changed ${++changes} times`
      registry.registerAll([{ ...prompt, type: "query", description, mcp: { as: "prompt" } }])
      return "Changed."
    },
    Type.Object({}),
  )
  registry.registerAll([changed])
  add("input_required_result_prompt", async (_, { requestInput }) => {
    const { content } = await requestInput(
      form("user_context", "Some context?", { context: { type: "string" } }),
    )
    return `Context: ${JSON.stringify(content)}`
  })
}

/** What asks whoever called. */
function addQuestions(add: (name: string, handler: Handler, inputSchema?: TSchema) => void): void {
  const name = form("user_name", "What is your name?", { name: { type: "string" } })
  const confirm = form("confirm", "Please confirm", { ok: { type: "boolean" } })
  const sampling = (key: string, text: string): Question => ({
    type: "sampling",
    key,
    params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 },
  })
  const roots = { type: "roots", key: "client_roots" } as const
  const ask = (question: Question): Handler => {
    return async (_, { requestInput }) => JSON.stringify(await requestInput(question))
  }

  add(
    "sampling",
    async ({ prompt }, { requestInput }) => {
      const { content } = await requestInput(sampling("prompt", String(prompt)))
      return `LLM response: ${JSON.stringify(content)}`
    },
    Type.Object({ prompt: Type.String() }),
  )
  add(
    "elicitation",
    async ({ message }, { requestInput }) => {
      const properties = { username: { type: "string" }, email: { type: "string" } }
      const { action, content } = await requestInput(form("user", String(message), properties))
      return `User response: ${action} ${JSON.stringify(content)}`
    },
    Type.Object({ message: Type.String() }),
  )
  add("elicitation_sep1034_defaults", ask({ message: "Defaults", schema: EVERY_DEFAULT_FORM }))
  add("elicitation_sep1330_enums", ask({ message: "Enumerations", schema: ENUMS_FORM }))
  add("missing_capability", ask(sampling("prompt", "Anybody there?")))
  add("streaming_elicitation", async (_, { progress, requestInput }) => {
    progress({ progress: 1, total: 2 })
    return JSON.stringify(await requestInput(name))
  })

  add("input_required_result_elicitation", async (_, { requestInput }) => {
    const { content } = await requestInput(name)
    return `Hello, ${String((content as { name?: unknown } | undefined)?.name)}!`
  })
  add("input_required_result_sampling", ask(sampling("capital_question", "The capital of France?")))
  add("input_required_result_list_roots", ask(roots))
  add("input_required_result_request_state", async (_, { requestInput }) => {
    const { action } = await requestInput(confirm)
    return `state-ok: ${action}`
  })
  add("input_required_result_multiple_inputs", async (_, { requestInput }) => {
    const questions = [name, sampling("greeting", "Generate a greeting"), roots]
    return JSON.stringify(await Promise.all(questions.map(async (one) => await requestInput(one))))
  })
  add("input_required_result_multi_round", async (_, { requestInput }) => {
    const who = await requestInput(form("step1", "Your name?", { name: { type: "string" } }))
    const what = await requestInput(form("step2", "A color?", { color: { type: "string" } }))
    return JSON.stringify([who, what])
  })
  add("input_required_result_tampered_state", ask(confirm))
  add("input_required_result_capabilities", async (_, { requestInput }) => {
    // Whoever cannot show a form may have a model to ask.
    const answer = await requestInput(name).catch(
      async () => await requestInput(sampling("name", "Invent a name.")),
    )
    return JSON.stringify(answer)
  })
}

type Question = Parameters<OperationContext["requestInput"]>[0]

function form(key: string, message: string, properties: object): Question {
  const schema = { type: "object", properties, required: Object.keys(properties) }
  return { key, message, schema }
}

function operation(
  namespace: string,
  name: string,
  handler: Handler,
  inputSchema: TSchema,
): AnyOperation {
  return {
    namespace,
    name,
    version: "1.0.0",
    type: "mutation",
    description: `What the referee calls ${namespace}_${name}`,
    inputSchema,
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler,
  }
}

function blocks(...content: MCPContentBlock[]): ResponseEnvelope {
  return mcpEnvelope(content, { isError: false, content })
}

function resource(uri: string, mimeType: string, text: string): MCPContentBlock {
  return { type: "resource", resource: { uri, mimeType, text } }
}

function headerSchema(): TSchema {
  return Type.Object({ region: Type.String({ "x-mcp-header": "Region" }) })
}
