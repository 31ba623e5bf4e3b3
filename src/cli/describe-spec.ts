import { deprecationText } from "../core/deprecation.ts"
import { settingsText, type AppliedPolicy } from "../core/policy-state.ts"
import type { OperationSpec } from "../core/types.ts"
import { withoutHTML } from "../internal/plain-text.ts"
import { commandText } from "./command-text.ts"
import type { CommandArgs, CommandIO } from "./model.ts"
import { oneLine, escapeForTerminal, styled, textTable } from "./output.ts"
import { nestedPropertiesOf, propertiesOf, typeText, type Property } from "./schema-text.ts"
import { commandInput } from "../schema/read/sample/command-input.ts"
import { exampleInputs } from "../schema/read/sample/example-input.ts"
import { unbroken, widthOf, wrapFor } from "./wrap.ts"

/** Describes an operation for people: purpose, input, output, and how to call it. */
export function describeSpec(
  spec: OperationSpec,
  policies: readonly AppliedPolicy[],
  io: CommandIO,
  args?: CommandArgs,
): string {
  const { bold } = styled(io)
  const id = `${spec.namespace}.${spec.name}`
  const inputs = nestedPropertiesOf(spec.inputSchema)
  const parts = [
    [`${bold(id)}  ${kindOf(spec)}`],
    textOf(spec),
    section(bold("Input:"), inputLines(spec, inputs, io)),
    section(bold("Output:"), outputLines(spec, io)),
    section(bold("Errors:"), errorLines(spec, io)),
    section(bold("Needs:"), needs(spec)),
    section(bold("Policies:"), policyLines(policies, io)),
    section(bold("Example:"), [`  ${exampleOf(id, spec, io, args)}`]),
  ]
  const text = parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")
  return wrapFor(io.stdout, text)
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}

function kindOf({ type, deprecated, annotations = {}, version }: OperationSpec): string {
  const { readOnly, destructive, idempotent } = annotations
  return [
    type,
    `version ${version}`,
    ...(deprecated === true ? ["deprecated"] : []),
    // For a mutation this is only a claim, for example of an MCP server that is not trusted.
    ...(readOnly === true && type === "mutation" ? ["declared read-only"] : []),
    ...(readOnly === true && type === "subscription" ? ["read-only"] : []),
    ...(destructive === true ? ["destructive"] : []),
    ...(idempotent === true && type === "mutation" ? ["idempotent"] : []),
  ]
    .map(escapeForTerminal)
    .join(", ")
}

function textOf(spec: OperationSpec): readonly string[] {
  const { title = "", description, deprecation } = spec
  const deprecated = deprecation === undefined ? "" : deprecationText(spec)
  const lines = [title, description, deprecated].map((text) =>
    escapeForTerminal(withoutHTML(text.trim())),
  )
  return [...new Set(lines)].filter((line) => line !== "")
}

function inputLines(
  { inputSchema }: OperationSpec,
  inputs: readonly Property[] | undefined,
  io: CommandIO,
): readonly string[] {
  if (inputs === undefined) return [`  ${oneLine(typeText(inputSchema))}`]
  if (inputs.length === 0) return ["  nothing"]
  return propertyLines(inputs, io)
}

function outputLines({ outputSchema }: OperationSpec, io: CommandIO): readonly string[] {
  const properties = propertiesOf(outputSchema)
  if (properties !== undefined && properties.length > 0) return propertyLines(properties, io)
  return [`  ${oneLine(typeText(outputSchema))}`]
}

const MAX_TYPE = 40

function propertyLines(properties: readonly Property[], io: CommandIO): readonly string[] {
  const { cyan, dim } = styled(io)
  const rows = properties.map(({ name, isRequired, type, text }) => [
    `  ${cyan(oneLine(name))}${isRequired ? "" : dim("?")}`,
    // A type that is too wide for its column is the beginning of the text, in full.
    ...(widthOf(type) > MAX_TYPE
      ? ["", oneLine(`${type} ${withoutHTML(text)}`)]
      : [oneLine(type), oneLine(withoutHTML(text))]),
  ])
  return tableLines(rows, io)
}

function tableLines(rows: readonly (readonly string[])[], { stdout }: CommandIO): string[] {
  return rows.length === 0 ? [] : [textTable(rows, stdout)]
}

function errorLines({ errorSchemas = [] }: OperationSpec, io: CommandIO): readonly string[] {
  const rows = errorSchemas.map(({ code, description }) => [
    `  ${oneLine(code)}`,
    oneLine(description),
  ])
  return tableLines(rows, io)
}

function needs({ accessControl }: OperationSpec): readonly string[] {
  const { requiredScopes, requiredScopesAny = [], resourceType, resourceAction } = accessControl
  return [
    ...(requiredScopes.length > 0 ? [`  all of: ${requiredScopes.join(", ")}`] : []),
    ...(requiredScopesAny.length > 0 ? [`  one of: ${requiredScopesAny.join(", ")}`] : []),
    ...(resourceType === undefined ? [] : [`  ${resourceAction ?? "access"} on ${resourceType}`]),
  ].map(escapeForTerminal)
}

function policyLines(policies: readonly AppliedPolicy[], io: CommandIO): readonly string[] {
  const { dim } = styled(io)
  const rows = policies.map(({ policy, from, settings }) => [
    `  ${oneLine(policy)}`,
    oneLine(settingsText(settings)),
    dim(oneLine(from)),
  ])
  return tableLines(rows, io)
}

/** An example command line: with the first example, or values that the schema accepts. */
function exampleOf(
  id: string,
  spec: OperationSpec,
  io: CommandIO,
  args: CommandArgs | undefined,
): string {
  const verb = spec.type === "subscription" ? "watch" : "call"
  const words = commandInput(exampleInputs(spec)[0], spec.inputSchema)
  return unbroken(`${commandText(verb, io, args)} ${oneLine([id, ...words].join(" "))}`)
}
