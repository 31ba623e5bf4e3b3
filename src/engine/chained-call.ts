import type { AttemptLog } from "./attempt-log.ts"
import { Call } from "./call.ts"
import type { CallHost, EndReceiver } from "./call.ts"
import type { EndReason } from "./refusals.ts"
import type { CallError } from "../core/errors.ts"
import type { CallOptions } from "../core/types.ts"
import type { OperationRecord } from "./record.ts"

/** A call of an operation with middleware: what each of these needs is at hand, without the object for what few calls do. */
export class ChainedCall extends Call {
  declare private log: AttemptLog | undefined
  declare private receiver: EndReceiver | undefined
  declare private handler: Promise<unknown> | undefined

  constructor(
    kernel: CallHost,
    record: OperationRecord,
    parent: Call | undefined,
    options: CallOptions | undefined,
  ) {
    super(kernel, record, parent, options)
    this.log = undefined
    this.receiver = undefined
    this.handler = undefined
  }

  override get attemptLog(): AttemptLog | undefined {
    return this.log
  }

  override set attemptLog(log: AttemptLog | undefined) {
    this.log = log
  }

  override get handling(): Promise<unknown> | undefined {
    return this.handler
  }

  override set handling(handling: Promise<unknown> | undefined) {
    this.handler = handling
  }

  override onEnd(receiver: EndReceiver): void {
    if (this.receiver === undefined) this.receiver = receiver
    else super.onEnd(receiver)
  }

  override stopWork(reason: EndReason, message: string): void {
    const { receiver } = this
    this.receiver = undefined
    super.stopWork(reason, message)
    receiver?.finishWith(this.ended as CallError)
  }
}
