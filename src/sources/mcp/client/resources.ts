import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { resourceOperations } from "../resource-operation.ts"
import { resourceEnvelope } from "../result.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { OperationContext } from "../../../core/handler.ts"
import { ExtraSection } from "./extras.ts"
import { systemClock } from "../../../internal/clock.ts"

/** The resources of a server, and its templates of resources, as queries. */
export class ResourceSection extends ExtraSection {
  readonly kinds = ["resources", "resourceTemplates"] as const

  protected override make(
    [resources = [], templates = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    const read = (
      uri: string,
      context: OperationContext,
      operationId: string,
    ): Promise<ResponseEnvelope> => this.#read(uri, context, operationId)
    return resourceOperations(resources, templates, { server: this.server, read, warn })
  }

  async #read(
    uri: string,
    context: OperationContext,
    operationId: string,
  ): Promise<ResponseEnvelope> {
    const started = systemClock.now()
    const result = await this.connection.readResource(uri, this.optionsOf(context, operationId))
    return resourceEnvelope(result, this.originSince(started))
  }
}
