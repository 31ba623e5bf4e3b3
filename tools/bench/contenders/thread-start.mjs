// Threads of Node 20 read no TypeScript.
import { tsImport } from "tsx/esm/api"

await tsImport("./thread-child.ts", import.meta.url)
