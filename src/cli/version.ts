import { readFileSync } from "node:fs"

/** Finds the version of this package by searching upward: a bundle is elsewhere than its sources. */
export function packageVersion(): string {
  for (let at = new URL(".", import.meta.url); ; at = new URL("..", at)) {
    const version = versionIn(new URL("package.json", at))
    if (version !== undefined) return version
    if (at.pathname === "/" || at.href === new URL("..", at).href) return "unknown"
  }
}

function versionIn(file: URL): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
    return name === "@alkdev/operations" && typeof version === "string" ? version : undefined
  } catch {
    return undefined
  }
}
