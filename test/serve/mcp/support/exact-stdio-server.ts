// The operations of `exact-operations.ts` on standard input and output; the argument is the address of their API.
import { toMCP } from "../../../../src/to-mcp.ts"
import { exactRegistry } from "./exact-operations.ts"

await toMCP(exactRegistry(process.argv[2] ?? ""), { expose: { mode: "all" } }).stdio()
