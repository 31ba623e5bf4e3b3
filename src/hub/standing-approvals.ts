import { mkdir, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import type { StandingApproval, StandingApprovals } from "../approvals/standing.ts"
import { CallError } from "../core/errors.ts"
import { isRecord } from "../internal/guards.ts"
import type { Logger } from "../internal/logger.ts"
import { reasonOf } from "../internal/message-text.ts"
import { replaceFile } from "../node/replace-file.ts"

/** Approvals in a JSON file of a user, who may edit it. It is read for each call that asks. */
export class StandingApprovalsFile implements StandingApprovals {
  readonly #path: string
  readonly #logger: Logger
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
  }

  async find(caller: string | undefined, operation: string): Promise<StandingApproval | undefined> {
    try {
      return (await this.#read()).find(
        (one) => one.operation === operation && one.caller === (caller ?? null),
      )
    } catch (error) {
      this.#logger.warn("The file of approvals cannot be read; people are asked", { error })
      return undefined
    }
  }

  /** Rejects if it cannot be kept: a file that cannot be read is left as it is. */
  add(approval: StandingApproval): Promise<void> {
    const added = this.#writing.then(() => this.#write(approval))
    this.#writing = added.catch(() => undefined)
    return added
  }

  async #write(approval: StandingApproval): Promise<void> {
    try {
      const others = (await this.#read()).filter(
        ({ operation, caller }) => operation !== approval.operation || caller !== approval.caller,
      )
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
      const text = `${JSON.stringify([...others, approval], undefined, 2)}\n`
      await replaceFile(this.#path, text, { mode: 0o600 })
    } catch (cause) {
      throw new CallError("UNAVAILABLE", `The approval was not kept: ${reasonOf(cause)}`, {
        cause,
        retryable: false,
        mayHaveExecuted: false,
      })
    }
  }

  async #read(): Promise<readonly StandingApproval[]> {
    let text: string
    try {
      text = await readFile(this.#path, "utf8")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
      throw error
    }
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list) && list.every(isStandingApproval)) return list
    throw new Error(`"${this.#path}" is not a list of approvals.`)
  }
}

function isStandingApproval(value: unknown): value is StandingApproval {
  if (!isRecord(value)) return false
  const { operation, caller } = value
  return typeof operation === "string" && (caller === null || typeof caller === "string")
}
