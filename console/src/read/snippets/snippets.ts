// Code that calls an operation of this hub. Everything here can be pasted and run.

import { idOf } from "../../api/model.ts"
import type { OperationSpec } from "../../api/model.ts"
import { printJson } from "../../ui/json-text.ts"
import { commandInput } from "../../../../src/schema/read/sample/command-input.ts"
import { shellLine, shellWord } from "../../../../src/internal/shell.ts"
import { sourceText } from "./source-text.ts"

/** A piece of code to copy. */
export interface Snippet {
  readonly id: "claude" | "typescript" | "curl" | "command" | "mcp" | "vscode"
  readonly label: string
  readonly language: "ts" | "sh" | "json"
  readonly code: string
  /** What it needs to run. */
  readonly note: string
}

/** The hub, as it is reached from where this page is. */
export interface SnippetPlace {
  readonly baseUrl: string
  /** Whether the hub requires a credential. */
  readonly needsToken: boolean
  /** How the hub serves MCP: every operation as a tool, or tools that find and call operations. */
  readonly mcp: "tools" | "search" | undefined
  readonly websocket: boolean
}

type Spec = Pick<OperationSpec, "namespace" | "name" | "type" | "inputSchema">

/** Every way to call an operation with an input; `undefined` for no input. */
export function snippetsOf(spec: Spec, input: unknown, place: SnippetPlace): readonly Snippet[] {
  const at = { ...place, baseUrl: place.baseUrl.replace(/\/+$/, "") }
  return [
    ...(at.websocket ? [typescript(spec, input, at)] : []),
    {
      id: "curl",
      label: "curl",
      language: "sh",
      code: curlSnippet(spec, input, at),
      note: at.needsToken ? 'With the token or key in a variable: export TOKEN="…"' : "",
    },
    {
      id: "command",
      label: "Command line",
      language: "sh",
      code: commandSnippet(spec, input, at),
      note: `npm install --global @alkdev/operations${at.needsToken ? ", and the token in TOKEN" : ""}`,
    },
    ...(at.mcp === undefined ? [] : mcpClients(idOf(spec), at)),
  ]
}

/** How programs and models connect to the hub, whatever they call. */
export function connectionsOf(place: SnippetPlace): readonly Snippet[] {
  const at = { ...place, baseUrl: place.baseUrl.replace(/\/+$/, "") }
  const header = at.needsToken ? ["-H", '"Authorization: Bearer $TOKEN"'] : []
  const claude = ["claude mcp add --transport http operations", shellWord(`${at.baseUrl}/mcp`)]
  return [
    ...(at.mcp === undefined
      ? []
      : [
          {
            id: "claude" as const,
            label: "Claude Code",
            language: "sh" as const,
            code: shellLine([...claude, ...header.map((word) => word.replace("-H", "--header"))]),
            note: "",
          },
          ...mcpClients(undefined, at),
        ]),
    ...(at.websocket
      ? [
          {
            id: "typescript" as const,
            label: "TypeScript",
            language: "ts" as const,
            code: clientLines(at).join("\n"),
            note: "npm install @alkdev/operations ws",
          },
        ]
      : []),
    {
      id: "curl",
      label: "curl",
      language: "sh",
      code: shellLine(["curl -s", shellWord(`${at.baseUrl}/operations`), ...header]),
      note: `The OpenAPI document is at ${at.baseUrl}/openapi.json.`,
    },
  ]
}

function typescript(spec: Spec, input: unknown, at: SnippetPlace): Snippet {
  return {
    id: "typescript",
    label: "TypeScript",
    language: "ts",
    code: typescriptSnippet(spec, input, at),
    note: `npm install @alkdev/operations ws${at.needsToken ? ", and the token in OPERATIONS_TOKEN" : ""}`,
  }
}

/** Configurations of MCP clients, and how the operation is reached through them. */
function mcpClients(id: string | undefined, at: SnippetPlace): readonly Snippet[] {
  const how =
    id === undefined
      ? ""
      : at.mcp === "tools"
        ? "; the operation is one of its tools."
        : `; with this many operations the model finds "${id}" with search_operations, and calls it with call_operation.`
  return [
    {
      id: "mcp",
      label: "MCP client",
      language: "json",
      code: mcpSnippet(at),
      note: `Claude Code (.mcp.json), Cursor (.cursor/mcp.json) and most others${how}`,
    },
    {
      id: "vscode",
      label: "VS Code",
      language: "json",
      code: vscodeSnippet(at),
      note: `.vscode/mcp.json${how}`,
    },
  ]
}

/** A client over a WebSocket. */
function typescriptSnippet(spec: Spec, input: unknown, place: SnippetPlace): string {
  const isStream = spec.type === "subscription"
  const id = idOf(spec)
  const [member, before] = isMemberPath(id)
    ? [id, ""]
    : [isStream ? "subscribe" : "call", JSON.stringify(id)]
  const inputText = input === undefined ? "" : sourceText(input, "", id.length + 20)
  const parts = [before, inputText].filter((text) => text !== "").join(", ")
  const text = `client.${member}(${parts})`
  const call = isStream
    ? [`for await (const { data } of ${text}) {`, "  console.log(data)", "}"]
    : [`const { data } = await ${text}`, "console.log(data)"]
  return [...clientLines(place), "", ...call, "await client.close()"].join("\n")
}

/** Whether a client has members for all parts of an id, other than its own methods and those of functions. */
function isMemberPath(id: string): boolean {
  return id
    .split(".")
    .every((part) => /^(?!(?:call|subscribe|close|then|apply|bind)$)[A-Za-z_$][\w$]*$/.test(part))
}

function clientLines(place: SnippetPlace): readonly string[] {
  const address = JSON.stringify(`${place.baseUrl.replace(/^http/i, "ws")}/ws`)
  const token = place.needsToken ? `, {\n  token: process.env["OPERATIONS_TOKEN"],\n}` : ""
  return [
    `import { createClient } from "@alkdev/operations"`,
    `import { createWebSocketTransport } from "@alkdev/operations/websocket"`,
    "",
    `const client = createClient(createWebSocketTransport(${address}${token}))`,
  ]
}

/** A request to the gateway of the hub. */
export function curlSnippet(
  spec: Spec,
  input: unknown,
  place: Pick<SnippetPlace, "baseUrl" | "needsToken">,
): string {
  const isStream = spec.type === "subscription"
  const base = place.baseUrl.replace(/\/+$/, "")
  return shellLine([
    `curl ${isStream ? "-sN" : "-s"} -X POST`,
    shellWord(`${base}/operations/${encodeURIComponent(idOf(spec))}`),
    ...(isStream ? ["-H", "'Accept: text/event-stream'"] : []),
    ...(place.needsToken ? ["-H", '"Authorization: Bearer $TOKEN"'] : []),
    ...(input === undefined
      ? []
      : [
          "-H",
          "'Content-Type: application/json'",
          "--data-raw",
          shellWord(printJson(input) ?? ""),
        ]),
  ])
}

/** The command that comes with the package. */
function commandSnippet(spec: Spec, input: unknown, place: SnippetPlace): string {
  return shellLine([
    ...(place.needsToken ? ['OPERATIONS_TOKEN="$TOKEN"'] : []),
    `npx @alkdev/operations ${spec.type === "subscription" ? "watch" : "call"}`,
    shellWord(idOf(spec)),
    ...commandInput(input, spec.inputSchema),
    "--hub",
    shellWord(place.baseUrl),
  ])
}

/** What most clients of MCP read. */
function mcpSnippet(place: SnippetPlace): string {
  const server = {
    type: "http",
    url: `${place.baseUrl}/mcp`,
    ...(place.needsToken && { headers: { Authorization: "Bearer ${OPERATIONS_TOKEN}" } }),
  }
  return JSON.stringify({ mcpServers: { operations: server } }, null, 2)
}

/** The same for VS Code, which asks for the token and keeps it. */
function vscodeSnippet(place: SnippetPlace): string {
  const server = {
    type: "http",
    url: `${place.baseUrl}/mcp`,
    ...(place.needsToken && { headers: { Authorization: "Bearer ${input:operations-token}" } }),
  }
  const inputs = [
    {
      type: "promptString",
      id: "operations-token",
      description: "Token or API key of the hub",
      password: true,
    },
  ]
  return JSON.stringify(
    { ...(place.needsToken && { inputs }), servers: { operations: server } },
    null,
    2,
  )
}
