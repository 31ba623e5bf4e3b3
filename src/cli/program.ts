import { basename } from "node:path"

const PACKAGE = "@alkdev/operations"

/** The command that starts this program, for commands that are printed to be copied. */
export function programName(
  script: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  // From sources, in a clone: only the script in package.json can start it.
  if (script !== undefined && /\.[cm]?ts$/.test(script)) return "npm run -s operations --"
  const isNpx = env["npm_command"] === "exec" && env["npm_lifecycle_event"] === "npx"
  // `npx operations` would run another package of that name where this one is not installed. A local
  // installation is not on the PATH.
  if (isNpx || /[\\/]node_modules[\\/]\.bin[\\/]/.test(script ?? "")) return `npx ${PACKAGE}`
  const name = basename(script ?? "")
  return name === "" || /\.[cm]?js$/.test(name) ? "operations" : name
}
