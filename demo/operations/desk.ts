import { defineOperation } from "@alkdev/operations"
import { Type } from "typebox"

interface Product {
  readonly name: string
  readonly stock: number
}

/** Calls a REST API and an MCP server like any other operation. */
export const restock = defineOperation({
  namespace: "desk",
  name: "restock",
  type: "mutation",
  title: "Plan what to order",
  description: "Finds products of the shop that run low, and adds a note with what to order",
  tags: ["shop", "notes"],
  inputSchema: Type.Object({
    below: Type.Integer({ default: 10, minimum: 1, description: "Stock below this number is low" }),
  }),
  outputSchema: Type.Object({
    products: Type.Array(Type.String()),
    note: Type.Unknown({ description: "The note that was added" }),
  }),
  examples: [{ below: 5 }],
  accessControl: { requiredScopes: [] },
  composes: ["shop.products.list", "notes.add_note"],
  handler: async ({ below }, { call, progress }) => {
    progress({ progress: 0, total: 2, message: "Looking at the shelf" })
    const listed = await call("shop.products.list", { below, sort: "stock" })
    const products = (listed.data as Product[]).map(({ name, stock }) => `${name} (${stock} left)`)
    progress({ progress: 1, total: 2, message: `Writing down ${products.length} products` })
    const text = products.map((product) => `- ${product}`).join("\n")
    const note = await call("notes.add_note", { title: "To order", text, color: "pink" })
    return { products, note: note.data }
  },
})
