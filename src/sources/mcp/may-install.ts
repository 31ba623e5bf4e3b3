/** Whether a program may download the server before it starts it. */
export function mayInstall(command: string): boolean {
  return /^(?:.*[\\/])?(?:npx|npm|pnpx?|pnpm|yarn|bunx?|uvx?|pipx|docker|podman)(?:\.\w+)?$/i.test(
    command,
  )
}
