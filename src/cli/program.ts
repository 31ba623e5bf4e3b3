import { basename } from "node:path"

/** How a person starts this program, for commands that are printed to be copied. */
export function programName(
  script: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  // From its sources, in a clone: only the script of package.json knows how.
  if (script !== undefined && /\.[cm]?ts$/.test(script)) return "npm run -s operations --"
  if (env["npm_command"] === "exec" && env["npm_lifecycle_event"] === "npx") return "npx operations"
  const name = basename(script ?? "")
  return name === "" || /\.[cm]?js$/.test(name) ? "operations" : name
}
