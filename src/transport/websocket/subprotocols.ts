// Apart from what opens sockets: HTTP servers read tokens from subprotocols, and open none.

/** The subprotocol that clients offer in addition to a token, for the server to select. */
export const SUBPROTOCOL = "alkdev.operations"
/** The prefix of the subprotocol that carries a token where headers cannot be set. */
export const TOKEN_PREFIX = "alkdev.bearer."
