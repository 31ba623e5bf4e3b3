import { isCallError, type CallErrorJSON } from "../../../core/errors.ts"
import { redactText } from "../../../internal/redact.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import type { MCPConnection } from "./connection.ts"
import type { MCPConnectionStatus } from "./model.ts"

/** The status of a server; contains no secrets. */
export interface MCPServerStatus {
  readonly name: string
  /** `disabled` by its configuration, `failed` when connecting or listing failed, else that of its connection. */
  readonly status: MCPConnectionStatus["state"] | "disabled"
  readonly error?: Pick<CallErrorJSON, "code" | "message">
  /** The last output of a child process to stderr. */
  readonly stderrTail?: string
  readonly pid?: number
  readonly era?: MCPEra
  readonly protocolVersion?: string
  readonly serverInfo?: { readonly name: string; readonly version: string }
  /** How often it was reconnected. */
  readonly restarts: number
  readonly tools: number
  readonly warnings: readonly string[]
  /** Tools that are blocked because their definition differs from the pinned one. */
  readonly quarantined: readonly string[]
}

/** The status of a server with a connection. */
export function statusOf(
  connection: MCPConnection,
  parts: Pick<MCPServerStatus, "tools" | "warnings" | "quarantined">,
): MCPServerStatus {
  const { peer, status } = connection
  const isDown = status.state === "failed" || status.state === "lost"
  return {
    name: connection.name,
    status: status.state,
    ...(isDown &&
      status.lastError !== undefined && {
        error: { code: "UNAVAILABLE", message: redactText(status.lastError) },
      }),
    ...(status.stderrTail && { stderrTail: redactText(status.stderrTail) }),
    ...(status.pid !== undefined && { pid: status.pid }),
    ...(peer !== undefined && { era: peer.era, protocolVersion: peer.protocolVersion }),
    ...(peer?.serverInfo !== undefined && { serverInfo: peer.serverInfo }),
    restarts: status.restarts,
    ...parts,
  }
}

/** The status of a server that never connected. */
export function failedStatus(name: string, error: unknown, stderrTail?: string): MCPServerStatus {
  return {
    ...disabledStatus(name),
    status: "failed",
    error: {
      code: isCallError(error) ? error.code : "EXECUTION_ERROR",
      message: redactText(reasonOf(error)),
    },
    ...(stderrTail && { stderrTail: redactText(stderrTail) }),
  }
}

/** The status of a server that is switched off. */
export function disabledStatus(name: string): MCPServerStatus {
  return { name, status: "disabled", restarts: 0, tools: 0, warnings: [], quarantined: [] }
}
