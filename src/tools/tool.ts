// An operation as a tool: all parts of its definition, each created on first use.
import type { AccessRequirement } from "../core/access.ts"
import type { JsonObject, MCPEra, MCPOrigin } from "../mcp/model.ts"
import type { MCPToolAnnotations, MCPToolDefinition } from "../mcp/model.ts"
import { isRecord } from "../internal/guards.ts"
import type { JsonSchema } from "../schema/json.ts"
import { fileFieldsOf, withBase64 } from "../schema/file-fields.ts"
import { deprecationText } from "../core/deprecation.ts"
import { isImportedSpec } from "../core/define.ts"
import type { OperationSpec } from "../core/types.ts"
import { requirementToSee } from "./expose.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { portableInput, unportable } from "./portable-input.ts"
import { strictInput, type StrictInput } from "./strict-input.ts"
import { asObject, plainSchema } from "../schema/read/plain-schema.ts"
import { inputForm, itemsOutput, outputForm, streamForm } from "./tool-forms.ts"
import { isLong, partialOutput, selectForm } from "./select-form.ts"
import type { InputForm, OutputForm, StreamForm } from "./tool-forms.ts"
import { showHiddenText, withoutHiddenText } from "../mcp/hidden-text.ts"
import { originOf, servedAs } from "../mcp/served-as.ts"
import { mapSchemas } from "../schema/keywords.ts"

/** What MCP clients can use an operation as. */
export type ServedKind = "tool" | "resource" | "prompt"

/** The definition in a list, without the name. */
type Definition = Omit<MCPToolDefinition, "name">

/** One operation as a tool: created once per spec, its parts on first use. */
export class OperationTool {
  readonly id: string
  readonly spec: OperationSpec
  /** Access that a caller needs to see the tool; input-dependent rules do not hide it. */
  readonly requirement: AccessRequirement | undefined
  /** Where an operation of an MCP server comes from. */
  readonly origin: MCPOrigin | undefined
  /** The original definition of an imported tool. */
  readonly raw: MCPToolDefinition | undefined
  /** What MCP clients use it as. */
  readonly kind: ServedKind
  readonly #options: ResolvedSurfaceOptions
  #successor = ""
  /** Whether approvals deny it, whatever the input. */
  readonly isDenied: boolean
  /** Whether approvals may ask a person before it runs. */
  readonly mayAsk: boolean
  #originalInput: InputForm | undefined
  #lint: readonly string[] | undefined
  #input: InputForm | undefined
  #stream: StreamForm | undefined
  #selecting: InputForm | null | undefined
  #strict: StrictInput | undefined
  readonly #outputs = new Map<MCPEra, OutputForm | undefined>()
  /** The definition without the name, and its characters as JSON. */
  readonly #definitions = new Map<MCPEra, { readonly of: Definition; size?: number }>()

  constructor(
    id: string,
    spec: OperationSpec,
    options: ResolvedSurfaceOptions,
    { isDenied, mayAsk }: Pick<OperationTool, "isDenied" | "mayAsk">,
  ) {
    this.id = id
    this.spec = spec
    this.isDenied = isDenied
    this.mayAsk = mayAsk
    this.requirement = requirementToSee(spec)
    this.origin = originOf(spec)
    const { kind = "tool", tool } = this.origin ?? {}
    this.raw = kind === "tool" && isRecord(tool) ? tool : undefined
    this.kind = servedAs(spec)?.as ?? "tool"
    this.#options = options
  }

  /** What callers of a deprecated tool use instead; empty if not all of them may see it. */
  set successor(name: string) {
    if (name === this.#successor) return
    this.#successor = name
    this.#definitions.clear()
  }

  get isStream(): boolean {
    return this.spec.type === "subscription"
  }

  /** The original input form, before it is rewritten for clients. */
  get originalInput(): InputForm {
    return (this.#originalInput ??=
      this.raw === undefined ? inputForm(this.spec.inputSchema as JsonSchema) : rawInput(this.raw))
  }

  /** Why some clients refuse the original input schema, which may have been rewritten. */
  get lint(): readonly string[] {
    return (this.#lint ??= this.#judge())
  }

  /** The input form of the tool; for a subscription with its limits. */
  get form(): InputForm {
    return this.isStream ? this.stream.input : (this.#input ??= this.#makeInput())
  }

  /**
   * The input form with `select`, for tools whose results can be long; `undefined` for others. The definition of an
   * imported tool stays as it is.
   */
  get selecting(): InputForm | undefined {
    if (this.#selecting === undefined) {
      const { outputSchema } = this.spec
      const isOffered = this.raw === undefined && !this.isStream && isLong(outputSchema)
      const isPartial = isOffered && partialOutput(outputSchema as JsonSchema) !== undefined
      this.#selecting = (isPartial ? selectForm(this.form) : undefined) ?? null
    }
    return this.#selecting ?? undefined
  }

  /** The input schema in strict mode; `undefined` in other profiles. */
  get strict(): StrictInput | undefined {
    if (!this.#options.isStrict) return undefined
    return (this.#strict ??= strictInput((this.selecting ?? this.form).schema))
  }

  /** The input schema in a list. */
  get servedInput(): JsonSchema {
    const { strict } = this
    return strict?.reasons.length === 0 ? strict.schema : (this.selecting ?? this.form).schema
  }

  /** The arguments without what only strict mode asks for. */
  restore(args: JsonObject): JsonObject {
    const { strict } = this
    return strict?.reasons.length === 0 ? strict.restore(args) : args
  }

  /** The description, with the note about what the schema no longer expresses. */
  get description(): string {
    const { spec, form } = this
    const deprecated = spec.deprecated === true ? deprecationText(spec, this.#successor) : ""
    const own = this.raw?.description
    const words = [
      deprecated,
      withoutHiddenText(typeof own === "string" ? own : spec.description),
      form.note ?? "",
      this.mayAsk ? "A person is asked before it runs." : "",
    ]
    return words.filter((word) => word !== "").join(" ")
  }

  get stream(): StreamForm {
    return (this.#stream ??= streamForm(this.#makeInput(), this.#options.streams))
  }

  output(era: MCPEra): OutputForm | undefined {
    if (!this.#outputs.has(era)) this.#outputs.set(era, this.#makeOutput(era === "legacy"))
    return this.#outputs.get(era)
  }

  /** The output schema in a list: a result of selected fields has not all that is required. */
  servedOutput(era: MCPEra): JsonSchema | undefined {
    const schema = this.output(era)?.schema
    return schema === undefined || this.selecting === undefined ? schema : partialOutput(schema)
  }

  /** The definition in a list, without the name. */
  definition(era: MCPEra): Definition {
    return this.#defined(era).of
  }

  /** Characters of the definition as JSON. */
  size(era: MCPEra): number {
    const defined = this.#defined(era)
    return (defined.size ??= JSON.stringify(defined.of).length)
  }

  #defined(era: MCPEra): { readonly of: Definition; size?: number } {
    let defined = this.#definitions.get(era)
    if (defined === undefined) this.#definitions.set(era, (defined = { of: this.#define(era) }))
    return defined
  }

  /** Creates the definition; a failure must not hide other tools. */
  #define(era: MCPEra): Definition {
    try {
      return this.raw === undefined ? this.#describe(era) : this.#handOn(this.raw, era)
    } catch (error) {
      this.#options.logger.error("A tool is shown without its schemas", { tool: this.id, error })
      const description = withoutHiddenText(this.spec.description)
      return { description, inputSchema: { type: "object" }, annotations: annotationsOf(this.spec) }
    }
  }

  #judge(): readonly string[] {
    try {
      return unportable(this.originalInput.schema)
    } catch {
      // An unreadable schema is not shown.
      return []
    }
  }

  #makeInput(): InputForm {
    return this.#options.isPortable ? portableInput(this.originalInput) : this.originalInput
  }

  #makeOutput(isLegacy: boolean): OutputForm | undefined {
    const own = this.spec.outputSchema as JsonSchema
    if (this.isStream) return itemsOutput(withBase64(own))
    if (this.raw === undefined) {
      // A result that is a file is a content block of its own.
      const isFile = ["bytes", "stream", "raw"].includes(fileFieldsOf(own)?.whole?.kind ?? "")
      return isFile ? undefined : outputForm(withBase64(own), isLegacy)
    }
    const { outputSchema } = this.raw
    if (!isRecord(outputSchema)) return undefined
    if (isLegacy) return outputForm(outputSchema, isLegacy, Number.POSITIVE_INFINITY)
    return { schema: plainSchema(outputSchema), isWrapped: false }
  }

  #describe(era: MCPEra): Definition {
    const { spec } = this
    const { icons, meta } = spec.mcp ?? {}
    const shown = this.servedOutput(era)
    return {
      ...(spec.title !== undefined && { title: withoutHiddenText(spec.title) }),
      description: this.description,
      inputSchema: visibleSchema(this.servedInput),
      ...(shown !== undefined && { outputSchema: visibleSchema(shown) }),
      annotations: visibleTitle(annotationsOf(spec)),
      ...(icons !== undefined && { icons }),
      ...(meta !== undefined && { _meta: meta }),
    }
  }

  /** Passes the definition of an imported tool on, without hidden text and unusable parts. */
  #handOn(raw: MCPToolDefinition, era: MCPEra): Definition {
    const { name: _, title, description, annotations, execution, ...rest } = raw
    const { taskSupport: __, ...otherExecution } = isRecord(execution) ? execution : {}
    const output = this.output(era)
    // The modern era has no such member.
    const isExecution = era === "legacy" && Object.keys(otherExecution).length > 0
    const isDescribed = typeof description === "string" || this.form.note !== undefined
    const { outputSchema: ___, ...kept } = rest
    return {
      ...(typeof title === "string" && { title: withoutHiddenText(title) }),
      ...(isDescribed && { description: this.description }),
      ...kept,
      ...(isRecord(annotations) && { annotations: visibleTitle(annotations) }),
      inputSchema: visibleSchema(this.servedInput),
      ...(output !== undefined && { outputSchema: visibleSchema(output.schema) }),
      ...(isExecution && { execution: otherExecution }),
    }
  }
}

/** Removes invisible text from titles and descriptions, and escapes it in patterns; the same schema if there is none. */
function visibleSchema(schema: JsonSchema): JsonSchema {
  let isChanged = false
  const changed = mapSchemas(schema, (node) => {
    let out = node
    for (const key of ["title", "description", "$comment", "pattern"]) {
      const text = node[key]
      if (typeof text !== "string") continue
      const visible = showHiddenText(text, key === "pattern" ? escaped : () => "")
      if (visible === text) continue
      isChanged = true
      out = { ...out, [key]: visible }
    }
    return out
  })
  return isChanged ? changed : schema
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

/** Annotations whose title has no invisible text. */
export function visibleTitle(annotations: MCPToolAnnotations): MCPToolAnnotations {
  const { title } = annotations
  return typeof title === "string"
    ? { ...annotations, title: withoutHiddenText(title) }
    : annotations
}

/** The input form of an imported tool. Clients refuse a whole list if one input schema is not an object. */
function rawInput({ inputSchema }: MCPToolDefinition): InputForm {
  const plain = isRecord(inputSchema) ? plainSchema(inputSchema) : {}
  // Arguments are always an object, even if the schema has no type.
  const untyped = "type" in plain ? undefined : { type: "object", ...plain }
  const schema = asObject(plain) ?? untyped ?? { type: "object" }
  return { schema, toInput: (args) => args, pointer: "" }
}

/**
 * The annotations of a tool. Those for MCP take precedence, then those of the definition; by default a query is
 * read-only, and a mutation may be destructive.
 */
export function annotationsOf(spec: OperationSpec): MCPToolAnnotations {
  const { readOnly, destructive, idempotent, openWorld } = spec.annotations ?? {}
  const own = spec.mcp?.annotations
  const readOnlyHint = own?.readOnlyHint ?? readOnly ?? spec.type !== "mutation"
  return {
    readOnlyHint,
    ...(destructive === undefined
      ? !readOnlyHint && { destructiveHint: true }
      : { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    openWorldHint: openWorld ?? isImportedSpec(spec),
    ...own,
  }
}
