// The client that the referee examines: it is given the address of a server and the name of a scenario.
// Which revision is spoken is not said to it: it has to find out, as it does for its users.

import { ClientCredentialsProvider, PrivateKeyJwtProvider } from "@modelcontextprotocol/client"
import { createMCPClient } from "../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper } from "../../src/from-mcp.ts"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { OperationRegistry } from "../../src/index.ts"
import type { MCPOrigin } from "../../src/mcp/model.ts"
import type { FormInputRequest, InputResponse, UrlInputRequest } from "../../src/core/types.ts"
import { Login } from "./login.ts"

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
}

const SERVER = "referee"
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context
const url = process.argv.at(-1) ?? ""

await (scenario.startsWith("auth/") ? runLogin() : run({}))

/** Connects, does what the scenario asks for, and closes. */
async function run(config: MCPClientConfig, login?: Login): Promise<void> {
  const during = async <TResult>(action: () => Promise<TResult>): Promise<TResult> =>
    await (login === undefined ? action() : login.during(action))
  await using client = await during(async () => await connect(config))
  const registry: OperationRegistry = createRegistry([], { logger: silentLogger })
  client.registerAll(registry)
  await act(client, registry, during)
}

async function connect(config: MCPClientConfig): Promise<MCPClientWrapper> {
  return await createMCPClient(SERVER, {
    url,
    logger: silentLogger,
    resources: scenario === "http-standard-headers",
    prompts: scenario === "http-standard-headers",
    elicitation: answer,
    ...config,
  })
}

async function act(
  client: MCPClientWrapper,
  registry: OperationRegistry,
  during: <TResult>(action: () => Promise<TResult>) => Promise<TResult>,
): Promise<void> {
  const execute = async (tool: string, input: object = {}): Promise<unknown> =>
    await during(async () => await registry.execute(`${SERVER}.${tool}`, input))

  switch (scenario) {
    case "tools_call":
      await execute("add_numbers", { a: 5, b: 3 })
      return
    case "http-custom-headers":
      // `null` is not what the schema of the tool allows: the referee wants to see it sent all the same.
      for (const call of context.toolCalls ?? []) {
        await client.client.callTool(call.name, call.arguments)
      }
      return
    case "http-standard-headers":
      await execute("test_headers")
      await execute("my-hyphenated-tool")
      await client.client.readResource("file:///path/to/file%20name.txt")
      await client.client.getPrompt("test_prompt")
      return
    case "http-invalid-tool-headers":
      // Everything that was taken over is called.
      for (const { name } of client.tools) await execute(name, { region: "us-west1" })
      return
    case "json-schema-2020-12-preservation": {
      const spec = registry.getSpec(`${SERVER}.json_schema_2020_12_tool`)
      const { tool } = (spec?._meta?.["mcp"] ?? {}) as MCPOrigin
      await execute("json_schema_echo", { schema: tool?.inputSchema })
      return
    }
    case "sep-2322-client-request-state":
      await Promise.all([
        execute("test_mrtr_echo_state"),
        execute("test_mrtr_unrelated"),
        execute("test_mrtr_no_state"),
      ])
      await execute("test_mrtr_no_result_type")
      return
    default:
      for (const { name } of client.tools) await execute(name)
  }
}

/** Signs in where the server asks for it; who is registered already says so. */
async function runLogin(): Promise<void> {
  const { client_id, client_secret, private_key_pem, signing_algorithm = "ES256" } = context
  if (scenario.startsWith("auth/client-credentials")) {
    const clientId = client_id ?? ""
    const authProvider =
      private_key_pem === undefined
        ? new ClientCredentialsProvider({ clientId, clientSecret: client_secret ?? "" })
        : new PrivateKeyJwtProvider({
            clientId,
            privateKey: private_key_pem,
            algorithm: signing_algorithm,
          })
    await run({ authProvider })
    return
  }
  const registered =
    client_id === undefined
      ? undefined
      : { client_id, ...(client_secret !== undefined && { client_secret }) }
  const login = new Login(url, registered)
  await run({ authProvider: login }, login)
}

/** Says yes to every form, with the defaults that it names. */
async function answer(request: FormInputRequest | UrlInputRequest): Promise<InputResponse> {
  const { properties = {} } = ("schema" in request ? request.schema : {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: string; default?: unknown }>>
  }
  const content = Object.entries(properties).flatMap(([name, field]) => {
    if (field.default !== undefined) return [[name, field.default]]
    return field.type === "boolean" ? [[name, true]] : []
  })
  return { action: "accept", content: Object.fromEntries(content) }
}
