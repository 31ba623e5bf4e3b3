// Names of OpenTelemetry's semantic conventions, and our own. Written out, because those of MCP and GenAI are not stable.

export const SCOPE = "@alkdev/operations"

/** Attributes of spans and metrics. */
export const ATTRIBUTE = {
  system: "rpc.system.name",
  method: "rpc.method",
  originalMethod: "rpc.method_original",
  statusCode: "rpc.response.status_code",
  errorType: "error.type",
  input: "gen_ai.tool.call.arguments",
  output: "gen_ai.tool.call.result",
  user: "user.id",
  type: "operations.operation.type",
  entry: "operations.entry",
  source: "operations.source",
  requestId: "operations.request.id",
  outcome: "operations.outcome",
  items: "operations.stream.items",
  retryable: "operations.error.retryable",
  mayHaveExecuted: "operations.error.may_have_executed",
  attemptReason: "operations.attempt.reason",
  cacheResult: "operations.cache.result",
  to: "operations.destination",
  breaker: "operations.breaker",
  limiter: "operations.limiter",
  transport: "operations.transport",
  mcpMethod: "mcp.method.name",
  tool: "gen_ai.tool.name",
} as const

/** Metrics. */
export const METRIC = {
  duration: "operations.call.duration",
  active: "operations.call.active",
  items: "operations.stream.items",
  queueWait: "operations.queue.wait",
  attempts: "operations.attempts",
  retryDenied: "operations.retry.denied",
  cache: "operations.cache.requests",
  streams: "operations.stream.active",
  queueSize: "operations.queue.size",
  breaker: "operations.breaker.state",
  refused: "operations.limit.refused",
  mcpServer: "mcp.server.operation.duration",
  mcpClient: "mcp.client.operation.duration",
} as const

/** The system of calls: the value of `rpc.system.name`. */
export const SYSTEM = "operations"
/** `error.type` of a tool that reports a failure as its result. */
export const TOOL_ERROR = "tool_error"
/** The buckets of RPC durations, in seconds. */
export const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const
/** The buckets of MCP durations, in seconds. */
export const MCP_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const
