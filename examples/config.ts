// #region define
import { ConfigError, defineConfig, resolveConfig } from "@alkdev/operations/config"

const config = defineConfig({
  sources: {
    tools: { scan: "./operations" },
    github: {
      openapi: "https://example.com/github.json",
      auth: "${env:GITHUB_TOKEN}",
      include: ["issues.*", "pulls.*"],
      exclude: "*.delete*",
      rename: { "issues.list-for-repo": "issues.list" },
      access: [{ match: "*.list*", requiredScopes: [] }, { requiredScopes: ["github:write"] }],
    },
    notes: { mcp: "npx -y @example/notes ./notes", visibility: "internal" },
    office: { remote: "https://tools.example.com", token: "${file:~/.office-token}" },
  },
  mcpServers: {
    files: { command: "npx", args: ["-y", "@example/files", "${workspaceFolder}"] },
  },
  server: { port: 3000 },
})
// #endregion

// #region resolve
const resolved = resolveConfig(config, { baseDir: "/srv/hub" })

for (const { name, kind, namespace } of resolved.sources) console.log(name, kind, namespace)
// #endregion

// #region faults
try {
  resolveConfig(
    {
      sources: {
        github: { openapi: "./github.json", hedaers: {}, auth: "${enf:TOKEN}" },
        files: { command: "npx @example/files" },
      },
    },
    { baseDir: "/srv/hub", file: "operations.config.yaml" },
  )
} catch (error) {
  if (error instanceof ConfigError) console.log(error.message)
}
// #endregion
