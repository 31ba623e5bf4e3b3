const INSTALLERS: ReadonlySet<string> = new Set(
  "npx npm pnp pnpx pnpm yarn bun bunx uv uvx pipx docker podman".split(" "),
)

/** Whether a program may download the server before it starts it. */
export function mayInstall(command: string): boolean {
  const file = command.split(/[\\/]/).at(-1) ?? ""
  return INSTALLERS.has((file.split(".", 1)[0] ?? "").toLowerCase())
}
