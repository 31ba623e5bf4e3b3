import { CallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { diffOf, diffText, type DefinitionChange } from "./definition-diff.ts"
import { fingerprintOf, pinnedPart } from "./fingerprint.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import type { PinPolicy, PinQuestion, PinnedTool, Pins } from "./pins.ts"

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
  const { instructions, endpoint } = offered
  if (policy === "off") {
    return { tools: offered.tools.map(same), instructions, pins: undefined, warnings: [] }
  }
  if (pins === undefined) {
    const first = {
      version: 1,
      tools: offered.tools.map(pinOf),
      instructions: instructions ?? null,
      ...(endpoint !== undefined && { endpoint }),
    }
    return {
      tools: offered.tools.map(same),
      instructions,
      pins: first as Pins,
      warnings: [],
    }
  }
  return await new Judge(server, pins, policy).judge(offered)
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
    endpoint: string | undefined,
  ): Promise<readonly DefinitionChange[] | undefined> {
    const before = this.#pins.endpoint
    if (before === undefined || endpoint === undefined || before === endpoint) return undefined
    const diff = diffOf(before, endpoint)
    const question: PinQuestion = {
      server: this.#server,
      tool: undefined,
      isEndpoint: true,
      change: "changed",
      before,
      after: endpoint,
      diff,
    }
    return (await this.#ask(question, "its endpoint")) ? undefined : diff
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
    const question: PinQuestion = {
      server: this.#server,
      tool: tool.name,
      change,
      ...(before !== undefined && { before }),
      after,
      diff,
    }
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
    const isAccepted = await this.#ask(
      {
        server: this.#server,
        tool: undefined,
        change: before === null ? "added" : "changed",
        ...(before !== null && { before }),
        after,
        diff: diffOf(before ?? undefined, after),
      },
      "instructions",
    )
    return isAccepted ? after : before
  }

  async #ask(question: PinQuestion, what: string): Promise<boolean> {
    const policy = this.#policy
    if (typeof policy === "function") return await this.#approved(policy, question, what)
    const isAdded = question.change === "added"
    if (policy === "warn" && isAdded) return true
    const news = isAdded ? "new" : `not what was accepted: ${diffText(question.diff)}`
    const outcome = policy === "warn" ? "The new version is used." : "It is not used."
    this.#warnings.push(`MCP server "${this.#server}": ${what} is ${news}. ${outcome}`)
    return policy === "warn"
  }

  async #approved(
    policy: Extract<PinPolicy, (...parameters: never) => unknown>,
    question: PinQuestion,
    what: string,
  ): Promise<boolean> {
    try {
      const answer: unknown = await policy(question)
      if (answer === true) return true
      this.#warnings.push(`MCP server "${this.#server}": ${what} was not approved.`)
    } catch (thrown) {
      this.#warnings.push(
        `MCP server "${this.#server}": ${what} is not used, because asking for approval failed: ${reasonOf(thrown)}`,
      )
    }
    return false
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
  return {
    ...pinned,
    ...(icons !== undefined && { icons }),
    ...(execution !== undefined && { execution }),
    ...(_meta !== undefined && { _meta }),
  }
}
