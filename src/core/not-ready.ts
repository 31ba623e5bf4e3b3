import { CallError } from "./errors.ts"

/**
 * Thrown for a message that cannot be sent yet, because a file in it was not read, or a module was not loaded.
 *
 * The sender of the message calls `load` and tries again.
 */
export class NotReady extends CallError {
  readonly load: () => Promise<void>

  constructor(message: string, load: () => Promise<void>, details?: unknown) {
    super("EXECUTION_ERROR", message, { details })
    this.load = load
  }
}
