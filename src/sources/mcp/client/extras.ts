import { promptOperations } from "../prompt-operation.ts"
import { promptEnvelope, resourceEnvelope, type AnswerOrigin } from "../result.ts"
import { resourceOperations } from "../resource-operation.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { canonicalJson } from "../../../mcp/canonical.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import type { MCPList } from "./model.ts"
import { Section } from "./section.ts"
import { readOptions } from "./call-context.ts"
import { systemClock } from "../../../internal/clock.ts"

/**
 * The resources or prompts of a server.
 *
 * If listing them fails, the tools are not affected: the old entries stay, with a warning.
 */
abstract class ExtraSection extends Section {
  override async update(): Promise<{ readonly ttlMs: number | undefined }> {
    const { server, connection, kinds } = this
    let lists: readonly MCPList[]
    try {
      lists = await Promise.all(kinds.map((kind) => connection.list(kind)))
    } catch (error) {
      this.warnings = [`The ${kinds[0]} could not be listed: ${reasonOf(error)}`]
      server.logger.warn(`The ${kinds[0]} of an MCP server could not be listed`, {
        server: server.name,
        error,
      })
      return { ttlMs: undefined }
    }
    const warnings = lists.flatMap((list) => list.warnings)
    const items = lists.map((list) => list.items)
    const made = this.make(items, (warning) => warnings.push(warning))
    this.replace(
      made.map((operation) => ({ text: canonicalJson(operation), entry: { operation } })),
      (_, id) => warnings.push(`"${id}" exists twice; the first one is used.`),
    )
    this.warnings = warnings
    const lifetimes = lists.flatMap(({ ttlMs }) => ttlMs ?? [])
    return { ttlMs: lifetimes.length === 0 ? undefined : Math.min(...lifetimes) }
  }

  /** Makes the operations of the lists, one list per entry of `kinds`. */
  protected abstract make(
    lists: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[]

  protected originSince(started: number): AnswerOrigin {
    const { server, connection } = this
    return { server: server.name, peer: connection.peer, durationMs: systemClock.now() - started }
  }
}

/** The resources of a server, and its templates of resources, as queries. */
export class ResourceSection extends ExtraSection {
  readonly kinds = ["resources", "resourceTemplates"] as const

  protected override make(
    [resources = [], templates = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    return resourceOperations(resources, templates, {
      server: this.server,
      warn,
      read: async (uri, context, operationId) => {
        const started = systemClock.now()
        const options = readOptions(context, operationId)
        const result = await this.connection.readResource(uri, options)
        return resourceEnvelope(result, this.originSince(started))
      },
    })
  }
}

/** The prompts of a server as queries. */
export class PromptSection extends ExtraSection {
  readonly kinds = ["prompts"] as const

  protected override make(
    [prompts = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    return promptOperations(prompts, {
      server: this.server,
      warn,
      get: async (name, input, context, operationId) => {
        const started = systemClock.now()
        const options = readOptions(context, operationId)
        const result = await this.connection.getPrompt(name, input, options)
        return promptEnvelope(result, this.originSince(started))
      },
    })
  }
}
