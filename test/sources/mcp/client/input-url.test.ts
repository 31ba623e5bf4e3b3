import { expect, test } from "vitest"
import type { InputRequest } from "../../../../src/index.ts"
import { answerQuestion } from "../../../../src/sources/mcp/client/input.ts"

test.each([
  ["https://good.example/\u202Emoc.live", "https://good.example/%E2%80%AEmoc.live"],
  ["https://good.example/a\u200Bb?q=\u2066x", "https://good.example/a%E2%80%8Bb?q=%E2%81%A6x"],
  ["https://\u0430pple.example/", "https://xn--pple-43d.example/"],
  ["https://example.com/sign-in", "https://example.com/sign-in"],
])("a question with the address %j shows %s", async (url, shown) => {
  const seen: InputRequest[] = []
  const params = { mode: "url", message: "Sign in.", url, elicitationId: "1" }

  await answerQuestion(
    "elicitation/create",
    params,
    { server: "s" },
    {} as never,
    async (request) => {
      seen.push(request)
      return { action: "accept" }
    },
  )

  expect(seen).toMatchObject([{ type: "url", url: shown }])
})
