import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { promptOperations } from "../prompt-operation.ts"
import { promptEnvelope } from "../result.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { OperationContext } from "../../../core/handler.ts"
import { ExtraSection } from "./extras.ts"
import type { MCPRequestOptions } from "./model.ts"
import { systemClock } from "../../../internal/clock.ts"

/** The prompts of a server as queries. */
export class PromptSection extends ExtraSection {
  readonly kinds = ["prompts"] as const

  protected override make(
    [prompts = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    const get = (
      name: string,
      input: Readonly<Record<string, string>>,
      context: OperationContext,
      operationId: string,
    ): Promise<ResponseEnvelope> => this.#get(name, input, this.optionsOf(context, operationId))
    return promptOperations(prompts, { server: this.server, get, warn })
  }

  async #get(
    name: string,
    input: Readonly<Record<string, string>>,
    options: MCPRequestOptions,
  ): Promise<ResponseEnvelope> {
    const started = systemClock.now()
    const result = await this.connection.getPrompt(name, input, options)
    return promptEnvelope(result, this.originSince(started))
  }
}
