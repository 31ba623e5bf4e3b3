/** The MCP client that made an outermost call, for MCP servers to which the call is passed on. */
export interface CallingClient {
  /** The capabilities that it has declared, such as `elicitation`. */
  readonly capabilities: Readonly<Record<string, unknown>>
  /** Receives what servers log; absent if it did not ask for that. */
  readonly log?: ClientLog | undefined
}

/** Where log messages go. */
export interface ClientLog {
  /** The lowest level that is wanted. */
  readonly level: string
  /** Receives the parameters of a `notifications/message`. */
  readonly send: (params: Readonly<Record<string, unknown>>) => void
}

/** Options of a call that an MCP server received, and the context of its handler. */
export interface FromClient {
  readonly client?: CallingClient | undefined
}
