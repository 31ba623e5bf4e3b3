import { allows } from "../../core/access.ts"
import type { Identity, OperationSpec } from "../../core/types.ts"
import { addToList } from "../../internal/lists.ts"
import { sha256Hex } from "../../internal/sha256.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { withoutHiddenText } from "../../mcp/hidden-text.ts"
import type { JsonObject } from "../../mcp/model.ts"
import { mimeTypeOf } from "../../mcp/served-as.ts"
import { parseUriTemplate, type TemplateValue, type UriTemplate } from "../../mcp/uri-template.ts"
import { viewOf } from "../../schema/read/view.ts"
import { pageOf, type Page } from "../../tools/listing.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import type { ToolNames } from "../../tools/tool-names.ts"
import type { OperationTool } from "../../tools/tool.ts"

/** The lists beside that of tools, by the member of their results. */
export type ExtraList = "resources" | "resourceTemplates" | "prompts" | "skills"

/** A resource, a template of resources or a prompt. */
export interface Extra {
  readonly id: string
  readonly tool: OperationTool
  readonly definition: JsonObject
  /** Characters of the definition as JSON. */
  readonly size: number
}

/** A resource that a client may read, and the variables of its template. */
export interface FoundResource {
  readonly tool: OperationTool
  readonly values: Readonly<Record<string, TemplateValue>>
}

/** The resources and prompts of one version of a registry. */
export class Catalog {
  readonly #lists: Readonly<Record<ExtraList, Extra[]>> = {
    resources: [],
    resourceTemplates: [],
    prompts: [],
    skills: [],
  }
  readonly #byUri = new Map<string, OperationTool[]>()
  readonly #templates: { readonly template: UriTemplate; readonly tool: OperationTool }[] = []
  readonly #prompts = new Map<string, OperationTool>()
  readonly #fingerprint: string
  /** The lists depend on the caller. */
  readonly isRestricted: boolean

  constructor(surface: ToolSurface, names: ToolNames) {
    const tools = surface.all.filter(({ kind }) => kind !== "tool")
    const prompts = tools.filter(({ kind }) => kind === "prompt")
    names.assign(
      prompts.map((tool) => ({ id: tool.id, spec: tool.spec, rawName: rawNameOf(tool) })),
    )
    for (const tool of tools) {
      if (tool.kind === "prompt") {
        const name = names.nameOf(tool.id) ?? tool.id
        this.#prompts.set(name, tool)
        this.#add("prompts", tool, promptDefinition(name, tool))
      } else this.#addResource(tool, surface.nameOf(tool))
    }
    this.isRestricted = tools.some(({ requirement }) => requirement !== undefined)
    const lines = tools.map(({ id, spec }) => `${id} ${spec.version}`)
    this.#fingerprint = sha256Hex([surface.version, ...lines].join("\n")).slice(0, 16)
  }

  /** A page of what a caller may see. Throws `ProtocolError` for an invalid or outdated cursor. */
  page(
    list: ExtraList,
    identity: Identity | undefined,
    cursor: string | undefined,
    most: number,
  ): Page<Extra> {
    const visible = this.#lists[list].filter(({ tool }) => maySee(tool, identity))
    return pageOf(visible, this.#fingerprint, cursor, most, ({ size }) => size)
  }

  /** The resource of an address that a caller may see, if any: one with that address goes before templates. */
  resource(uri: string, identity: Identity | undefined): FoundResource | undefined {
    const exact = this.#byUri.get(uri)?.find((tool) => maySee(tool, identity))
    if (exact !== undefined) return { tool: exact, values: {} }
    for (const { tool, template } of this.#templates) {
      const values = maySee(tool, identity) ? template.match(uri) : undefined
      if (values !== undefined) return { tool, values }
    }
    return undefined
  }

  /** The operation of a template, as it is listed. */
  template(uriTemplate: string, identity: Identity | undefined): OperationTool | undefined {
    const isIt = ({ tool, definition }: Extra): boolean =>
      definition["uriTemplate"] === uriTemplate && maySee(tool, identity)
    return this.#lists.resourceTemplates.find(isIt)?.tool
  }

  prompt(name: string, identity: Identity | undefined): OperationTool | undefined {
    const tool = this.#prompts.get(name)
    return tool !== undefined && maySee(tool, identity) ? tool : undefined
  }

  /** The entry of a skill, by the address of its `SKILL.md`. */
  skill(uri: string, identity: Identity | undefined): JsonObject | undefined {
    const isIt = ({ tool, definition }: Extra): boolean =>
      definition["uri"] === uri && maySee(tool, identity)
    return this.#lists.skills.find(isIt)?.definition
  }

  #addResource(tool: OperationTool, name: string): void {
    const definition = resourceDefinition(name, tool)
    const { uri, uriTemplate } = definition
    if (typeof uri === "string") {
      addToList(this.#byUri, uri, tool)
      this.#add("resources", tool, definition)
      const skill = tool.spec.mcp?.skill ?? tool.origin?.skill
      if (skill !== undefined) this.#add("skills", tool, { uri, ...skill })
      return
    }
    const template = parseUriTemplate(String(uriTemplate))
    if (typeof template === "string") return
    this.#templates.push({ template, tool })
    this.#add("resourceTemplates", tool, definition)
  }

  #add(list: ExtraList, tool: OperationTool, definition: JsonObject): void {
    const size = JSON.stringify(definition).length
    this.#lists[list].push({ id: tool.id, tool, definition, size })
  }
}

function maySee({ isDenied, requirement }: OperationTool, identity: Identity | undefined): boolean {
  return !isDenied && allows(requirement, identity, undefined)
}

/** The name of an imported prompt on its server. */
function rawNameOf({ origin }: OperationTool): string | undefined {
  const name = origin?.definition?.["name"]
  return typeof name === "string" ? name : undefined
}

function resourceDefinition(name: string, tool: OperationTool): JsonObject {
  const { mcp, outputSchema } = tool.spec
  const raw = tool.origin?.definition
  if (raw !== undefined) {
    const { uri, uriTemplate } = raw
    const key = typeof uri === "string" ? { uri } : { uriTemplate }
    return { name: uri ?? uriTemplate, ...withVisibleTexts(raw), ...key }
  }
  const uri = mcp?.uri ?? ""
  const isTemplate = uri.includes("{")
  return {
    ...(isTemplate ? { uriTemplate: uri } : { uri }),
    name,
    ...ownTexts(tool.spec),
    ...withoutUndefined({ mimeType: mimeTypeOf(outputSchema) }),
    ...ownExtras(tool.spec),
  }
}

function promptDefinition(name: string, { spec, origin }: OperationTool): JsonObject {
  if (origin?.definition !== undefined) return { ...withVisibleTexts(origin.definition), name }
  const input = viewOf(spec.inputSchema)
  const required = new Set(input.required)
  const declared = input.names.map((key) => {
    const property = input.property(key)
    const texts = { title: property.text("title"), description: property.text("description") }
    return { name: key, ...withoutUndefined(texts), ...(required.has(key) && { required: true }) }
  })
  return {
    name,
    ...ownTexts(spec),
    ...(declared.length > 0 && { arguments: declared }),
    ...ownExtras(spec),
  }
}

function ownTexts({ title, description }: OperationSpec): JsonObject {
  return {
    ...(title !== undefined && { title: withoutHiddenText(title) }),
    description: withoutHiddenText(description),
  }
}

function ownExtras({ mcp }: OperationSpec): JsonObject {
  return withoutUndefined({ icons: mcp?.icons, _meta: mcp?.meta })
}

function withVisibleTexts(definition: JsonObject): JsonObject {
  const { title, description } = definition
  return {
    ...definition,
    ...(typeof title === "string" && { title: withoutHiddenText(title) }),
    ...(typeof description === "string" && { description: withoutHiddenText(description) }),
  }
}
