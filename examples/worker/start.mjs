// Threads of Node 20 read no TypeScript. What is compiled starts registry.js itself.
import { fileURLToPath } from "node:url"
import { tsImport } from "tsx/esm/api"

await tsImport("./registry.ts", {
  parentURL: import.meta.url,
  tsconfig: fileURLToPath(new URL("../tsconfig.json", import.meta.url)),
})
