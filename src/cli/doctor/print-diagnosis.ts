import type { CommandIO } from "../model.ts"
import type { SurfaceCost, ToolCost } from "../../to-mcp.ts"
import { missingLines } from "../packages.ts"
import { oneLine, printText, escapeForTerminal, styled, table } from "../output.ts"
import type { CredentialCheck } from "./credentials.ts"
import type { ConfigCheck, Diagnosis, SourceCheck } from "./examine.ts"
import { reasonOfSource } from "../target/index.ts"
import { countsText, reportLines } from "./report-lines.ts"

/** Prints a diagnosis for people, with what to do. */
export function printDiagnosis(diagnosis: Diagnosis, io: CommandIO): void {
  const { ok, node, config, hub, credentials, sources, tools } = diagnosis
  const { bold, green, red, yellow } = styled(io)
  const lines = [`${green("✓")} Node ${node}`]
  if (hub !== undefined) lines.push(`${green("✓")} Hub ${hub}`)
  if (config !== undefined) lines.push(...configLines(config, io))
  lines.push(...packageLines(diagnosis, io))
  if (credentials.length > 0) lines.push("", bold("Credentials"))
  for (const check of credentials) lines.push(credentialLine(check, io))
  if (sources.length > 0) lines.push("", bold("Sources"))
  for (const source of sources) lines.push(...sourceLines(source, io))
  if (tools !== undefined) lines.push("", ...toolLines(tools, io))
  const warned = lines.filter((line) => line.trimStart().startsWith(yellow("!"))).length
  const warnings = warned === 1 ? "1 warning" : `${warned} warnings`
  const well = warned === 0 ? "Everything is well." : `Nothing is wrong, with ${warnings}.`
  lines.push("", ok ? green(well) : red(`${counted(diagnosis)} wrong.`))
  printText(io, lines.join("\n"))
}

function configLines({ ok, file, error, warnings }: ConfigCheck, io: CommandIO): string[] {
  const { green, red, yellow } = styled(io)
  const lines = ok
    ? [`${green("✓")} Configuration ${escapeForTerminal(file ?? "of the command line")}`]
    : [
        `${red("✗")} Configuration ${escapeForTerminal(file ?? "")}`.trimEnd(),
        indented(escapeForTerminal(error ?? "")),
      ]
  return [...lines, ...warnings.map((warning) => `${yellow("!")} ${oneLine(warning)}`)]
}

function packageLines({ missingPackages }: Diagnosis, io: CommandIO): string[] {
  const { bold, red, yellow } = styled(io)
  const lines = missingLines(missingPackages, io).map((line, at) => {
    const one = missingPackages[at]
    if (one === undefined) return `  ${escapeForTerminal(line)}`
    return `${one.isOptional ? yellow("!") : red("✗")} ${escapeForTerminal(line)}`
  })
  return lines.length === 0 ? [] : ["", bold("Packages"), ...lines]
}

const MISSING = {
  env: (name: string) => `is not set: export ${name}=…`,
  file: () => "does not exist",
  command: () => "",
} as const

function credentialLine({ kind, name, places, state }: CredentialCheck, io: CommandIO): string {
  const { green, red, dim } = styled(io)
  const where = dim(`(${oneLine(places.join(", "))})`)
  const what = kind === "env" ? oneLine(name) : `${kind} ${oneLine(name)}`
  switch (state) {
    case "there":
      return `${green("✓")} ${what} ${where}`
    case "missing":
      return `${red("✗")} ${what} ${MISSING[kind](name)} ${where}`
    case "unknown":
      return `${dim("?")} ${what} is run when it is needed ${where}`
  }
}

function sourceLines(source: SourceCheck, io: CommandIO): string[] {
  const { green, red, yellow, dim } = styled(io)
  const { name, state, kind, origin, report } = source
  const reason = reasonOfSource({ name, reason: source.reason ?? "no reason given" })
  const start = `${oneLine(name)} ${dim(`(${oneLine(`${kind} ${origin}`)})`)}`
  switch (state) {
    case "ready": {
      const lines = [`${green("✓")} ${start}`]
      if (report === undefined) return lines
      return [...lines, `  ${countsText(report)}`, ...reportLines(report, io).map(indented)]
    }
    case "disabled":
      return [`${dim("-")} ${start} is disabled`]
    case "lost":
      return [`${yellow("!")} ${start}`, indented(escapeForTerminal(reason))]
    case "failed":
    case "loading":
      return [`${red("✗")} ${start}`, indented(escapeForTerminal(reason))]
  }
}

function toolLines({ mode, all, search, parts }: SurfaceCost, io: CommandIO): string[] {
  const { bold, dim } = styled(io)
  const row = (name: string, { tools, tokens }: ToolCost, note = ""): string[] => [
    `  ${name}`,
    ...[`${tools} ${tools === 1 ? "tool" : "tools"}`, `${tokens} tokens`, dim(note)],
  ]
  const served = (name: SurfaceCost["mode"]): string => (mode === name ? "served" : "")
  const rows = [
    row("all tools", all, served("all")),
    ...parts.map((part) => row(`  ${oneLine(part.name)}`, part)),
    row("search tools", search, served("search")),
  ]
  return [
    `${bold("Tools of a model")} ${dim("(estimate: 4 bytes of JSON per token)")}`,
    table(rows),
  ]
}

function counted({ config, credentials, missingPackages, sources }: Diagnosis): string {
  const count =
    (config?.ok === false ? 1 : 0) +
    credentials.filter(({ state }) => state === "missing").length +
    missingPackages.filter(({ isOptional }) => !isOptional).length +
    sources.filter(({ state }) => state !== "ready" && state !== "disabled").length
  return count === 1 ? "1 thing is" : `${count} things are`
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ")
}
