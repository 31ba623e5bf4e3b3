import { expect, test } from "vitest"
import { mayInstall } from "../../../src/sources/mcp/may-install.ts"

test.each([
  ["npx", true],
  ["/usr/local/bin/uvx", true],
  ["C:\\Program Files\\nodejs\\NPX.CMD", true],
  ["docker.exe", true],
  ["node", false],
  ["npx/server", false],
  ["my-npx", false],
  ["", false],
])("%j installs servers: %s", (command, installs) => {
  expect(mayInstall(command)).toBe(installs)
})
