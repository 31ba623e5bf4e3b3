import { requirementOf } from "../../core/access.ts"
import type { AccessRequirement } from "../../core/access.ts"
import type { MCPEra, MCPToolAnnotations, MCPToolDefinition } from "../../mcp/model.ts"
import { isPlainRecord } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"
import type { OperationSpec } from "../../core/types.ts"
import { annotationsOf, originOf } from "./annotations.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { portableInput, unportable } from "./portable.ts"
import { asObject, plainSchema } from "../../schema/read/plain-schema.ts"
import { inputForm, outputForm } from "./tool-forms.ts"
import type { InputForm, OutputForm } from "./tool-forms.ts"
import { itemsOutput, streamForm } from "./stream-tools.ts"
import type { StreamForm } from "./stream-tools.ts"
import { visibleSchema, visibleText } from "./visible-text.ts"

/** One operation as a tool: made once for a spec, its parts when they are first needed. */
export class OperationTool {
  readonly id: string
  readonly spec: OperationSpec
  /** What a caller must hold to see it; where that depends on the input, it is seen. */
  readonly requirement: AccessRequirement | undefined
  /** The definition of an imported tool, as its server gave it. */
  readonly raw: MCPToolDefinition | undefined
  readonly #options: ResolvedSurfaceOptions
  #given: InputForm | undefined
  #lint: readonly string[] | undefined
  #input: InputForm | undefined
  #stream: StreamForm | undefined
  readonly #outputs = new Map<MCPEra, OutputForm | undefined>()
  readonly #sizes = new Map<MCPEra, number>()
  readonly #definitions = new Map<MCPEra, Omit<MCPToolDefinition, "name">>()

  constructor(id: string, spec: OperationSpec, options: ResolvedSurfaceOptions) {
    this.id = id
    this.spec = spec
    this.requirement = requirementOf({ ...spec.accessControl, resourceIdPath: undefined })
    const origin = originOf(spec)
    this.raw = origin?.kind === "tool" && isPlainRecord(origin.tool) ? origin.tool : undefined
    this.#options = options
  }

  get isStream(): boolean {
    return this.spec.type === "subscription"
  }

  /** What the operation takes, before anything was rewritten for clients. */
  get given(): InputForm {
    return (this.#given ??=
      this.raw === undefined ? inputForm(this.spec.inputSchema as JsonSchema) : rawInput(this.raw))
  }

  /** Why some clients refuse what the operation takes; what they get may have been rewritten. */
  get lint(): readonly string[] {
    return (this.#lint ??= this.#judge())
  }

  /** What the tool takes; of a subscription also how much of it. */
  get form(): InputForm {
    return this.isStream ? this.stream.input : (this.#input ??= this.#makeInput())
  }

  /** What it does, in words, with what its schema no longer says. */
  get description(): string {
    const { spec, form } = this
    const deprecated = spec.deprecated === true ? "Deprecated." : ""
    const own = this.raw?.description
    const words = [
      deprecated,
      visibleText(typeof own === "string" ? own : spec.description),
      form.note ?? "",
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

  /** Everything that a list says of it but its name. */
  definition(era: MCPEra): Omit<MCPToolDefinition, "name"> {
    let definition = this.#definitions.get(era)
    if (definition === undefined) {
      definition = this.#define(era)
      this.#definitions.set(era, definition)
    }
    return definition
  }

  /** Characters of the definition as JSON. */
  size(era: MCPEra): number {
    let size = this.#sizes.get(era)
    if (size === undefined) {
      size = JSON.stringify(this.definition(era)).length
      this.#sizes.set(era, size)
    }
    return size
  }

  /** One definition that cannot be made must not hide the others. */
  #define(era: MCPEra): Omit<MCPToolDefinition, "name"> {
    try {
      return this.raw === undefined ? this.#describe(era) : this.#handOn(this.raw, era)
    } catch (error) {
      this.#options.logger.error("A tool is shown without its schemas", { tool: this.id, error })
      const description = visibleText(this.spec.description)
      return { description, inputSchema: { type: "object" }, annotations: annotationsOf(this.spec) }
    }
  }

  #judge(): readonly string[] {
    try {
      return unportable(this.given.schema)
    } catch {
      // A schema that cannot be read is not shown.
      return []
    }
  }

  #makeInput(): InputForm {
    return this.#options.isPortable ? portableInput(this.given) : this.given
  }

  #makeOutput(isLegacy: boolean): OutputForm | undefined {
    const own = this.spec.outputSchema as JsonSchema
    if (this.isStream) return itemsOutput(own)
    if (this.raw === undefined) return outputForm(own, isLegacy)
    const { outputSchema } = this.raw
    if (!isPlainRecord(outputSchema)) return undefined
    if (isLegacy) return outputForm(outputSchema, isLegacy, Number.POSITIVE_INFINITY)
    return { schema: plainSchema(outputSchema), isWrapped: false }
  }

  #describe(era: MCPEra): Omit<MCPToolDefinition, "name"> {
    const { spec, form } = this
    const output = this.output(era)
    return {
      ...(spec.title !== undefined && { title: visibleText(spec.title) }),
      description: this.description,
      inputSchema: visibleSchema(form.schema),
      ...(output !== undefined && { outputSchema: visibleSchema(output.schema) }),
      annotations: annotationsOf(spec),
    }
  }

  /** An imported tool is handed on as it came, but for what nobody could see or use. */
  #handOn(raw: MCPToolDefinition, era: MCPEra): Omit<MCPToolDefinition, "name"> {
    const { name: _, title, description, annotations, execution, ...rest } = raw
    const { taskSupport: __, ...otherExecution } = isPlainRecord(execution) ? execution : {}
    const output = this.output(era)
    const isDescribed = typeof description === "string" || this.form.note !== undefined
    const { outputSchema: ___, ...kept } = rest
    return {
      ...(typeof title === "string" && { title: visibleText(title) }),
      ...(isDescribed && { description: this.description }),
      ...kept,
      ...(isPlainRecord(annotations) && { annotations: visibleTitle(annotations) }),
      inputSchema: visibleSchema(this.form.schema),
      ...(output !== undefined && { outputSchema: visibleSchema(output.schema) }),
      ...(Object.keys(otherExecution).length > 0 && { execution: otherExecution }),
    }
  }
}

function visibleTitle(annotations: MCPToolAnnotations): MCPToolAnnotations {
  const { title } = annotations
  return typeof title === "string" ? { ...annotations, title: visibleText(title) } : annotations
}

/** Clients refuse a whole list for one input schema that is no object. */
function rawInput({ inputSchema }: MCPToolDefinition): InputForm {
  const plain = isPlainRecord(inputSchema) ? plainSchema(inputSchema) : {}
  // Arguments are an object, whether a schema says so or not.
  const untyped = "type" in plain ? undefined : { type: "object", ...plain }
  const schema = asObject(plain) ?? untyped ?? { type: "object" }
  return { schema, toInput: (given) => given, pointer: "" }
}
