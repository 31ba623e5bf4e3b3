/**
 * Writes the tables of fields in `docs/guides/config.md` from the schema of a configuration: `tsx tools/scripts/config-docs.ts`.
 * `test/docs.test.ts` compares the page with what this would write.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { configSchema } from "../../src/config.ts"
import { SOURCES } from "../../src/config/kinds/index.ts"

const PAGE = join(resolve(import.meta.dirname, "../.."), "docs/guides/config.md")
const [BEGIN, END] = ["<!-- fields -->", "<!-- end of fields -->"]

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
}

/** The text of the page: what is outside of the marks stays as it is. */
export function configPage(): string {
  const page = readFileSync(PAGE, "utf8")
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (before === -1 || after < before) throw new Error(`${PAGE} has no place for the fields.`)
  return `${page.slice(0, before)}${BEGIN}\n\n${tables()}\n${page.slice(after)}`
}

function tables(): string {
  const { sources, mcpServers, server, registry, audit, telemetry } =
    (configSchema as Schema).properties ?? {}
  const entry = mcpServers?.additionalProperties as Schema
  const anySource = sources?.anyOf?.[0]?.additionalProperties as Schema
  const ofKinds = Object.entries(SOURCES).map(([kind, { fields }], at) => {
    const schema = anySource.anyOf?.[at] ?? {}
    return [
      `${schema.description} \`${kind}\` sources`,
      schema,
      (name: string) => name in fields,
    ] as const
  })
  const [, first = {}] = ofKinds[0] ?? []
  const isCommon = (name: string): boolean => ofKinds.every(([, , isOwn]) => !isOwn(name))
  const all = (): boolean => true
  return [
    ["Every source", first, isCommon] as const,
    ...ofKinds,
    ["An entry of an MCP server, in `mcpServers` or `mcp`", entry, all] as const,
    ["`server`", server ?? {}, all] as const,
    ["`registry`", registry ?? {}, all] as const,
    ["`audit`", audit ?? {}, all] as const,
    ["`telemetry`", telemetry ?? {}, all] as const,
  ]
    .map(([title, schema, isShown]) => `${title}:\n\n${table(rowsOf(schema, "", isShown))}`)
    .join("\n")
}

function rowsOf(schema: Schema, prefix: string, isShown: (name: string) => boolean): string[][] {
  return Object.entries(schema.properties ?? {})
    .filter(([name, { description }]) => isShown(name) && description !== undefined)
    .flatMap(([name, field]) => {
      const isRequired = schema.required?.includes(name) === true
      const row = [
        `\`${prefix}${name}\`${isRequired ? ", required" : ""}`,
        typeOf(field),
        field.description ?? "",
      ]
      return [row, ...rowsOf(field, `${prefix}${name}.`, () => true)]
    })
}

/** The values of a field in a few words. */
function typeOf({ type, anyOf, enum: values, items, additionalProperties }: Schema): string {
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ")
  if (type === undefined && anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(" or ")
  if (type === "array") return items === undefined ? "list" : `list of ${typeOf(items)}`
  if (typeof additionalProperties === "object") return `${typeOf(additionalProperties)} by name`
  // Where numbers are read as texts, texts are meant.
  return [type ?? "any"].flat()[0] ?? "any"
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(
    (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`,
  )
  return ["| field | value | what it is |", "| --- | --- | --- |", ...lines].join("\n") + "\n"
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(PAGE, configPage())
