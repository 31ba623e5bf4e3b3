import { CallError } from "../../core/errors.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { diffOf, diffText, type DefinitionChange } from "./definition-diff.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import {
  fingerprintOf,
  pinnedPart,
  type PinnedTool,
  type PinPolicy,
  type PinQuestion,
  type Pins,
} from "./pins.ts"

/** A tool, and whether it may be called. */
export interface JudgedTool {
  /** The definition to use: the old one if a change was refused. */
  readonly tool: MCPToolDefinition
  readonly verdict: "same" | "added" | "changed"
  /** Calls must fail with `quarantined`. */
  readonly isQuarantined: boolean
  readonly diff: readonly DefinitionChange[]
}

/** The result of comparing a server with its pins. */
export interface Judgement {
  /** All tools, in the order of the list. */
  readonly tools: readonly JudgedTool[]
  /** The accepted instructions: the old ones while a change is refused. */
  readonly instructions: string | undefined
  /** The pins to save; `undefined` when nothing has changed. */
  readonly pins: Pins | undefined
  readonly warnings: readonly string[]
}

/** The current definitions of a server. */
export interface OfferedTools {
  readonly tools: readonly MCPToolDefinition[]
  readonly instructions: string | undefined
  /** The address or the command of the server. */
  readonly endpoint?: string | undefined
}

/** Maximum number of pins per server, removed tools included. */
const MAX_PINS = 20_000

/**
 * Compares the definitions of a server with its pins.
 *
 * A server without pins is accepted as it is. Names in `offered` must be unique.
 */
export async function judgeTools(
  server: string,
  offered: OfferedTools,
  pins: Pins | undefined,
  policy: PinPolicy,
): Promise<Judgement> {
  const { tools, instructions, endpoint } = offered
  if (policy !== "off" && pins !== undefined) {
    return await new Judge(server, pins, policy).judge(offered)
  }
  const accepted = { tools: tools.map(same), instructions, warnings: [] }
  if (policy === "off") return { ...accepted, pins: undefined }
  const known = endpoint === undefined ? {} : { endpoint }
  const first = { tools: tools.map(pinOf), instructions: instructions ?? null, ...known }
  return { ...accepted, pins: { version: 1, ...first } }
}

/** The error for a call of a tool whose definition was not accepted. */
export function quarantined(server: string, judged: JudgedTool): CallError {
  const { tool, verdict, diff } = judged
  const why =
    verdict === "added"
      ? "it was not there when the server's tools were accepted"
      : `its definition is not the one that was accepted (${diffText(diff)})`
  return new CallError(
    "CONFLICT",
    `Tool "${tool.name}" of MCP server "${server}" was not called: ${why}. Review the change; to accept it, delete the server's pins or approve it with a function as pin.`,
    {
      mayHaveExecuted: false,
      details: {
        reason: "TOOL_DEFINITION_CHANGED",
        server,
        tool: tool.name,
        change: verdict,
        diff,
      },
    },
  )
}

class Judge {
  readonly #server: string
  readonly #policy: PinPolicy
  readonly #pins: Pins
  readonly #warnings: string[] = []

  constructor(server: string, pins: Pins, policy: PinPolicy) {
    this.#server = server
    this.#pins = pins
    this.#policy = policy
  }

  async judge({ tools, instructions, endpoint }: OfferedTools): Promise<Judgement> {
    const moved = await this.#judgeEndpoint(endpoint)
    if (moved !== undefined) return this.#refused(tools, moved)
    const kept = new Map(this.#pins.tools.map((pin) => [pin.definition.name, pin]))
    const judged: JudgedTool[] = []
    let hasChanged = false
    for (const tool of tools) {
      const result = await this.#judgeTool(tool, kept.get(tool.name))
      judged.push(result)
      if (result.verdict === "same" || result.isQuarantined) continue
      hasChanged = true
      kept.set(tool.name, pinOf(tool))
    }
    const accepted = await this.#judgeInstructions(instructions)
    const current = endpoint ?? this.#pins.endpoint
    hasChanged ||= accepted !== this.#pins.instructions || current !== this.#pins.endpoint
    const pins: Pins = {
      version: 1,
      tools: [...kept.values()].slice(-MAX_PINS),
      instructions: accepted,
      ...(current !== undefined && { endpoint: current }),
    }
    return {
      tools: judged,
      instructions: accepted ?? undefined,
      pins: hasChanged ? pins : undefined,
      warnings: this.#warnings,
    }
  }

  /** The difference of the endpoint, if the change is refused. */
  async #judgeEndpoint(
    after: string | undefined,
  ): Promise<readonly DefinitionChange[] | undefined> {
    const before = this.#pins.endpoint
    if (before === undefined || after === undefined || before === after) return undefined
    const diff = diffOf(before, after)
    const question = {
      tool: undefined,
      isEndpoint: true,
      change: "changed",
      before,
      after,
    } as const
    return (await this.#ask({ ...question, diff }, "its endpoint")) ? undefined : diff
  }

  /** Blocks all tools of a server whose endpoint has changed. */
  #refused(tools: readonly MCPToolDefinition[], diff: readonly DefinitionChange[]): Judgement {
    const pinned = new Map(this.#pins.tools.map(({ definition }) => [definition.name, definition]))
    return {
      tools: tools.map((tool) => {
        const before = pinned.get(tool.name)
        if (before === undefined) return { tool, verdict: "added", isQuarantined: true, diff }
        return { tool: withPinned(tool, before), verdict: "changed", isQuarantined: true, diff }
      }),
      instructions: this.#pins.instructions ?? undefined,
      pins: undefined,
      warnings: this.#warnings,
    }
  }

  async #judgeTool(tool: MCPToolDefinition, pin: PinnedTool | undefined): Promise<JudgedTool> {
    if (pin?.fingerprint === fingerprintOf(tool)) return same(tool)
    const before = pin?.definition
    const after = pinnedPart(tool)
    const change = before === undefined ? "added" : "changed"
    const diff = before === undefined ? [] : diffOf(before, after)
    const known = before === undefined ? {} : { before }
    const question = { tool: tool.name, change, ...known, after, diff } as const
    const isAccepted = await this.#ask(question, `tool "${tool.name}"`)
    const isOld = before !== undefined && !isAccepted
    return {
      tool: isOld ? withPinned(tool, before) : tool,
      verdict: change,
      isQuarantined: !isAccepted,
      diff,
    }
  }

  async #judgeInstructions(instructions: string | undefined): Promise<string | null> {
    const before = this.#pins.instructions
    const after = instructions ?? null
    // Removed or unchanged instructions cannot mislead a model.
    if (after === before || after === null) return before
    const known = before === null ? {} : { before }
    const change = before === null ? "added" : "changed"
    const diff = diffOf(before ?? undefined, after)
    const question = { tool: undefined, change, ...known, after, diff } as const
    return (await this.#ask(question, "instructions")) ? after : before
  }

  async #ask(question: Omit<PinQuestion, "server">, what: string): Promise<boolean> {
    const policy = this.#policy
    const isAdded = question.change === "added"
    if (policy === "warn" && isAdded) return true
    const news = isAdded ? "new" : `not what was accepted: ${diffText(question.diff)}`
    const outcome = policy === "warn" ? "The new version is used." : "It is not used."
    let warning = `is ${news}. ${outcome}`
    if (typeof policy === "function") {
      try {
        const answer: unknown = await policy({ server: this.#server, ...question })
        if (answer === true) return true
        warning = "was not approved."
      } catch (thrown) {
        warning = `is not used, because asking for approval failed: ${reasonOf(thrown)}`
      }
    }
    this.#warnings.push(`MCP server "${this.#server}": ${what} ${warning}`)
    return policy === "warn"
  }
}

function same(tool: MCPToolDefinition): JudgedTool {
  return { tool, verdict: "same", isQuarantined: false, diff: [] }
}

function pinOf(tool: MCPToolDefinition): PinnedTool {
  return { fingerprint: fingerprintOf(tool), definition: pinnedPart(tool) }
}

/** The pinned definition of a tool, with the current values of fields that are not pinned. */
function withPinned(tool: MCPToolDefinition, pinned: PinnedTool["definition"]): MCPToolDefinition {
  const { icons, execution, _meta } = tool
  return { ...pinned, ...withoutUndefined({ icons, execution, _meta }) }
}
