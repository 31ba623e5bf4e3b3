import { addSource, formatOf } from "../edit/add-source.ts"
import type { FoundSource } from "./discover.ts"

/** Format of a configuration that `init` writes. */
export type InitFormat = "ts" | "js" | "json" | "yaml"

/** The file name of a configuration. */
export function configName(format: InitFormat): string {
  return `operations.config.${format === "js" ? "mjs" : format}`
}

/** The text of a configuration with a folder of modules and the discovered sources. */
export function configText(
  format: InitFormat,
  discovered: readonly FoundSource[],
  hasPackage: boolean,
): string {
  const file = configName(format)
  let text = TEXTS[format](hasPackage)
  for (const { name, source } of discovered) {
    text = addSource(text, formatOf(file), name, source) ?? text
  }
  return text
}

const EXAMPLES = [
  `github: { openapi: "https://…/openapi.yaml", auth: "\${env:GITHUB_TOKEN}" },`,
  `files: { mcp: "npx -y @example/files ." },`,
  `team: { remote: "https://tools.example.com", token: "\${env:TEAM_TOKEN}" },`,
]

const TEXTS: Readonly<Record<InitFormat, (hasPackage: boolean) => string>> = {
  ts: script,
  js: script,
  json: () => `{
  "sources": {
    "local": { "scan": "./operations", "output": "strict" }
  }
}
`,
  yaml: () => `# Where operations come from. Credentials are references: "\${env:TOKEN}".
sources:
  # An API, by its OpenAPI document; an MCP server; another hub:
  # github:
  #   openapi: https://…/openapi.yaml
  #   auth: \${env:GITHUB_TOKEN}
  # files:
  #   mcp: npx -y @example/files .
  # team:
  #   remote: https://tools.example.com
  #   token: \${env:TEAM_TOKEN}

  # Each module of this folder exports operations. A result that does not match its schema is an error.
  local:
    scan: ./operations
    output: strict
`,
}

function script(hasPackage: boolean): string {
  const [start, end] = hasPackage ? ["defineConfig({", "})"] : ["{", "}"]
  const head = hasPackage ? `import { defineConfig } from "@alkdev/operations/config"\n\n` : ""
  return `${head}/** Where operations come from. Credentials are references: "\${env:TOKEN}". */
export default ${start}
  sources: {
    // An API, by its OpenAPI document; an MCP server; another hub:
${EXAMPLES.map((line) => `    // ${line}`).join("\n")}

    // Each module of this folder exports operations. A result that does not match its schema is an error.
    local: { scan: "./operations", output: "strict" },
  },
${end}
`
}

/** The text of an example operation for the scanned folder. */
export function exampleText(isTypeScript: boolean, hasPackage: boolean): string {
  const [start, end] = hasPackage ? ["defineOperation({", "})"] : ["{", "}"]
  const head = hasPackage ? `import { defineOperation } from "@alkdev/operations"\n\n` : ""
  // With the package installed, types are inferred from the schemas.
  const parameter = isTypeScript && !hasPackage ? "{ name }: { name: string }" : "{ name }"
  return `${head}export default ${start}
  namespace: "hello",
  name: "greet",
  version: "1.0.0",
  type: "query",
  title: "Greet",
  description: "Greets a person",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", description: "Whom to greet" } },
    required: ["name"],
  },
  outputSchema: { type: "string" },
  accessControl: { requiredScopes: [] },
  handler: (${parameter}) => \`Hello, \${name}!\`,
${end}
`
}
