// Threads of Node 20 cannot run TypeScript. A built program starts registry.js directly.
import { fileURLToPath } from "node:url"
import { tsImport } from "tsx/esm/api"

await tsImport("./registry.ts", {
  parentURL: import.meta.url,
  tsconfig: fileURLToPath(new URL("../tsconfig.json", import.meta.url)),
})
