import { existsSync } from "node:fs"
import { dirname, join, sep } from "node:path"
import type { ResolvedConfig, ResolvedSource } from "../config/model.ts"
import { TELEMETRY_PACKAGES } from "../hub/telemetry.ts"
import { packageFolder } from "../hub/package-folder.ts"
import type { CommandIO } from "./model.ts"
import { COMMAND_SOURCES } from "./sources/index.ts"
import { unbroken } from "./wrap.ts"

/** An optional package that a configuration needs. */
export interface NeededPackage {
  readonly name: string
  /** What needs it, as the subject of a sentence: `Source "files"`. */
  readonly users: readonly string[]
  /** Nothing fails without it: the feature is left out. */
  readonly isOptional: boolean
}

/** The optional packages that sources need, installed or not. */
export function packagesOfSources(
  sources: readonly Pick<ResolvedSource, "name" | "kind" | "config" | "disabled">[],
): NeededPackage[] {
  const users = new Map<string, string[]>()
  for (const { name, kind, config, disabled } of sources) {
    if (disabled) continue
    for (const one of COMMAND_SOURCES[kind].packages?.(config) ?? []) {
      users.set(one, [...(users.get(one) ?? []), `Source "${name}"`])
    }
  }
  return Array.from(users, ([name, all]) => ({ name, users: all, isOptional: false }))
}

/** The optional packages that serving needs. */
export function packagesOfServer({
  server,
  telemetry,
}: Pick<ResolvedConfig, "server" | "telemetry">): NeededPackage[] {
  const { websocket, jwt } = server
  const sending = telemetry?.otlp === undefined ? [] : TELEMETRY_PACKAGES
  return [
    ...(websocket === false
      ? []
      : [{ name: "ws", users: ["WebSocket (/ws)"], isOptional: websocket === undefined }]),
    ...(jwt === undefined ? [] : [{ name: "jose", users: ["server.jwt"], isOptional: false }]),
    ...sending.map((name) => ({ name, users: ["telemetry"], isOptional: false })),
  ]
}

/** The packages that are not installed, each once. */
export function missingPackages(needed: readonly NeededPackage[]): NeededPackage[] {
  const missing = new Map<string, NeededPackage>()
  for (const one of needed) {
    if (isInstalled(one.name)) continue
    const previous = missing.get(one.name)
    missing.set(one.name, {
      name: one.name,
      users: [...(previous?.users ?? []), ...one.users],
      isOptional: one.isOptional && previous?.isOptional !== false,
    })
  }
  return [...missing.values()]
}

/** Whether this package can resolve another one. */
export function isInstalled(name: string): boolean {
  return nodeModulesAbove(packageFolder() ?? process.cwd()).some((folder) =>
    existsSync(join(folder, name, "package.json")),
  )
}

/**
 * The command that installs packages where this one can resolve them.
 *
 * A copy from `npx` or a global installation does not look into the project's folder.
 */
export function installCommand(
  names: readonly string[],
  { cwd }: Pick<CommandIO, "cwd">,
  folder: string | undefined = packageFolder(),
): string {
  const home = folder === undefined ? undefined : folder.split(`${sep}node_modules${sep}`, 1)[0]
  const isLocal =
    home === undefined || home === folder || `${cwd}${sep}`.startsWith(`${home}${sep}`)
  if (isLocal) return `npm install ${names.join(" ")}`
  return /[\\/]_npx[\\/]/.test(folder ?? "")
    ? `npm install @alkdev/operations ${names.join(" ")}`
    : `npm install --global ${names.join(" ")}`
}

/** A line for each missing package, and one command that installs them all. */
export function missingLines(missing: readonly NeededPackage[], io: CommandIO): string[] {
  if (missing.length === 0) return []
  const lines = missing.map(({ name, users, isOptional }) => {
    const one = users.length === 1
    const verb = isOptional ? `${one ? "is" : "are"} not served without` : one ? "needs" : "need"
    return `${users.join(", ")} ${verb} the package "${name}", which is not installed.`
  })
  const names = missing.map(({ name }) => name)
  const command = unbroken(installCommand(names, io))
  return [...lines, `Install ${names.length === 1 ? "it" : "them"}: ${command}`]
}

function nodeModulesAbove(folder: string): string[] {
  const above = dirname(folder)
  const own = join(folder, "node_modules")
  return above === folder ? [own] : [own, ...nodeModulesAbove(above)]
}
