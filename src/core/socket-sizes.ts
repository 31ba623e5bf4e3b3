// What servers, the command line and the console agree on for WebSockets.

/** The largest frame that a server sends to a client that accepts it, unless a limit is configured. */
export const MAX_RESULT_BYTES: number = 32 * 1024 * 1024

/** Characters of a message that a server certainly receives: at most three bytes each, within the default frame. */
export const MAX_SENT_CHARACTERS = 300_000
