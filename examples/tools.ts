import { createRegistry, defineOperation } from "@alkdev/operations"
import { toAnthropic, toOpenAIResponses, toTools } from "@alkdev/operations/tools"
import { Type } from "@alkdev/operations/type"

// #region tools
const price = defineOperation({
  type: "query",
  description: "Returns the price of an article",
  inputSchema: Type.Object({ article: Type.String(), count: Type.Optional(Type.Integer()) }),
  outputSchema: Type.Object({ cents: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: ({ article, count = 1 }) => ({ cents: article.length * 100 * count }),
})

const registry = createRegistry({ shop: { price } }, { output: "strict" })
const tools = toTools(registry, { schemaProfile: "strict" })
console.log(tools.definitions.map(({ name, strict }) => ({ name, strict })))
// #endregion

// #region formats
const openai = toOpenAIResponses(tools)
const response = {
  output: [
    {
      type: "function_call",
      call_id: "1",
      name: "shop_price",
      arguments: '{"article":"tea","count":null}',
    },
  ],
}
console.log(await openai.run(response))

const anthropic = toAnthropic(tools.withContext({ identity: { id: "ada", scopes: [] } }))
const message = { content: [{ type: "tool_use", id: "2", name: "shop_price", input: {} }] }
console.log(JSON.stringify(await anthropic.run(message)))
// #endregion
