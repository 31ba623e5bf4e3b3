import { silentLogger } from "../../../../src/testing.ts"
import type { CallError } from "../../../../src/index.ts"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig } from "../../../../src/sources/mcp/config.ts"
import type { MCPToolDefinition } from "../../../../src/mcp/model.ts"
import { Connection, type MCPConnection } from "../../../../src/sources/mcp/client/connection.ts"
import type {
  MCPConnectionEvent,
  MCPRequestOptions,
} from "../../../../src/sources/mcp/client/model.ts"
import { rejection } from "../../../support/operations.ts"

/** A connection that is closed at the end of a test, and what happened on it. */
export interface TestConnection extends AsyncDisposable {
  readonly connection: MCPConnection
  readonly events: MCPConnectionEvent[]
  call(
    tool: string,
    input?: Readonly<Record<string, unknown>>,
    options?: MCPRequestOptions,
  ): Promise<Readonly<Record<string, unknown>>>
  /** `structuredContent` of a call. */
  ask(tool: string, input?: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
}

/** A connection to a server of the tests. */
export function open(
  config: MCPClientConfig,
  dependencies?: ConstructorParameters<typeof Connection>[1],
): TestConnection {
  const settled = resolveServer("srv", { logger: silentLogger, ...config })
  const connection = new Connection(settled, dependencies)
  const events: MCPConnectionEvent[] = []
  connection.onEvent((event) => events.push(event))
  const call: TestConnection["call"] = async (name, input = {}, options = {}) =>
    (await connection.callTool({ name }, input, options)) as Readonly<Record<string, unknown>>
  return {
    connection,
    events,
    call,
    async ask(tool, input) {
      const { structuredContent } = await call(tool, input)
      return structuredContent as Record<string, unknown>
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
    },
  }
}

/** Waits for something that takes as long as it takes; fails the test by its own time limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<CallError> {
  return (await rejection(promise)) as CallError
}

/** The text of the first block. */
export function textOf(result: Readonly<Record<string, unknown>>): unknown {
  const [block] = result["content"] as { text?: unknown }[]
  return block?.text
}

/** A definition of a tool by its name. */
export async function definitionOf(
  connection: MCPConnection,
  name: string,
): Promise<MCPToolDefinition> {
  const { items } = await connection.list("tools")
  return (items as MCPToolDefinition[]).find((tool) => tool.name === name) ?? { name }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
