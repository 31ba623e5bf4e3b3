import { beforeAll, describe, expect, test } from "vitest"
import type { MCPClientConfig } from "../../../../src/from-mcp.ts"
import type { InputRequest, InputResponse } from "../../../../src/index.ts"
import { rejection } from "../../../support/operations.ts"
import { until } from "../connection/support.ts"
import { CHANNELS, everything, metaOf, textOf, use, usingEverything } from "./support.ts"
import type { UsedServer } from "./support.ts"

const URL_INPUT = { url: "https://example.com/pay", message: "Pay.", elicitationId: "e1" }

const REPLY = { role: "assistant", model: "none", content: { type: "text", text: "forty-two" } }

/** Handlers of a configuration, and what they were asked. */
function handlers(): { readonly config: MCPClientConfig; readonly asked: unknown[] } {
  const asked: unknown[] = []
  const answer =
    (content: unknown) =>
    async (request: InputRequest, about: object): Promise<InputResponse> => {
      asked.push([request.type, about])
      return { action: "accept", content }
    }
  const config = {
    elicitation: answer({ name: "Ada", check: true }),
    sampling: answer(REPLY),
    roots: [{ uri: "file:///projects/a", name: "a" }, { uri: "file:///projects/b" }],
  }
  return { config, asked }
}

describe.each(CHANNELS)("everything asks over %s", (channel) => {
  const { config, asked } = handlers()
  const every = usingEverything(channel, config)
  // The server asks for them when it likes, and answers for itself until it has them.
  const rootsOf = async (): Promise<string> => textOf(await every.server.call("get-roots-list"))
  beforeAll(() => until(async () => (await rootsOf()).includes("file:///projects/a")))

  test("has all its tools for a client that can be asked", () => {
    const names = every.server.wrapper.tools.map(({ name }) => name)

    expect(names).toHaveLength(17)
    expect(names).toEqual(expect.arrayContaining(["get-roots-list", "trigger-sampling-request"]))
  })

  test("a form is filled in by the handler, and what it leaves out by the form's defaults", async () => {
    asked.length = 0
    const result = await every.server.call("trigger-elicitation-request")

    expect(asked).toEqual([["form", { server: "every", tool: "trigger-elicitation-request" }]])
    const raw = JSON.parse(textOf(result).split("Raw result: ")[1] ?? "") as unknown
    expect(raw).toMatchObject({
      action: "accept",
      content: { name: "Ada", check: true, integer: 42, untitledMultipleSelectEnum: ["Guitar"] },
    })
  })

  test.each(["decline", "cancel"] as const)("the caller comes first: %s", async (action) => {
    asked.length = 0
    const requests: InputRequest[] = []

    const result = await every.server.call("trigger-elicitation-request", undefined, {
      async requestInput(request) {
        requests.push(request)
        return { action }
      },
    })

    expect(asked).toEqual([])
    expect(requests).toMatchObject([
      { type: "form", schema: { properties: { name: { title: "String" } } } },
    ])
    expect(textOf(result)).toContain(action === "decline" ? "User declined" : "User cancelled")
  })

  test("a page is asked to be opened, and nothing but the consent goes back", async () => {
    const requests: InputRequest[] = []

    const result = await every.server.call("trigger-url-elicitation", URL_INPUT, {
      async requestInput(request) {
        requests.push(request)
        return { action: "accept", content: { secret: "not for the server" } }
      },
    })

    expect(requests).toMatchObject([{ type: "url", url: URL_INPUT.url, message: "Pay." }])
    expect(textOf(result)).toContain("User completed the URL elicitation flow.")
    expect(textOf(result)).not.toContain("not for the server")
  })

  test("a page that has to be opened first is an error that says which", async () => {
    const input = { ...URL_INPUT, elicitationId: `${channel}-first`, errorPath: true }

    expect(await rejection(every.server.call("trigger-url-elicitation", input))).toMatchObject({
      code: "EXECUTION_ERROR",
      details: {
        code: -32042,
        data: { elicitations: [{ mode: "url", url: "https://modelcontextprotocol.io" }] },
      },
    })
  })

  test("a language model is asked", async () => {
    const result = await every.server.call("trigger-sampling-request", {
      prompt: "How many?",
      maxTokens: 5,
    })

    expect(textOf(result)).toContain("forty-two")
  })

  test("a refusal to ask a model is a result, and the server lives on", async () => {
    const refuse = async (): Promise<InputResponse> => ({ action: "decline" })
    const input = { prompt: "How many?" }

    const result = await every.server.call("trigger-sampling-request", input, {
      requestInput: refuse,
    })

    expect(metaOf(result).isError).toBe(true)
    expect(textOf(await every.server.call("echo", { message: "here" }))).toBe("Echo: here")
  })

  test("folders are given", async () => {
    const text = await rootsOf()

    expect(text).toContain("file:///projects/a")
    expect(text).toContain("file:///projects/b")
  })
})

/** Two calls that ask at the same time, each with a caller of its own. */
async function askTwice(server: UsedServer): Promise<string[]> {
  const names = ["Ada", "Grace"]
  return await Promise.all(
    names.map(async (name) => {
      const requestInput = async (): Promise<InputResponse> => ({
        action: "accept",
        content: { name },
      })
      return textOf(await server.call("trigger-elicitation-request", {}, { requestInput }))
    }),
  )
}

test("calls that ask at the same time never get each other's answers", async () => {
  await using way = await everything("stdio")
  await using server = await use("every", { ...way.config, forwardInput: true })

  const [first, second] = await askTwice(server)

  expect(first).not.toContain("Grace")
  expect(second).not.toContain("Ada")
})
