// What an awkward server has beside tools, where it is asked to.

import { RpcError } from "./answers.ts"

/** Lists by the method that asks for them. */
export const MORE_LISTS: Readonly<Record<string, object>> = {
  "resources/list": {
    resources: [
      { uri: "file:///notes.txt", name: "notes", title: "Notes", mimeType: "text/plain", size: 5 },
      { uri: "file:///logo.png", name: "logo", mimeType: "image/png" },
    ],
  },
  "resources/templates/list": {
    resourceTemplates: [
      { uriTemplate: "city:///{country}/{name}", name: "city", description: "A city." },
      { uriTemplate: "search:///{?q,limit}", name: "search" },
    ],
  },
  "prompts/list": {
    prompts: [
      {
        name: "greet",
        title: "Greet",
        description: "Greets somebody.",
        arguments: [
          { name: "name", description: "Whom.", required: true },
          { name: "tone", description: "How." },
        ],
      },
      { name: "plain" },
    ],
  },
}

/** What `resources/read` answers. */
export function readResource(uri: string): object {
  const cache = { ttlMs: 0, cacheScope: "private" }
  if (uri === "file:///logo.png") {
    return { contents: [{ uri, mimeType: "image/png", blob: "iVBORw0KGgo=" }], ...cache }
  }
  if (uri === "file:///notes.txt" || uri.startsWith("city:") || uri.startsWith("search:")) {
    return { contents: [{ uri, mimeType: "text/plain", text: `text of ${uri}` }], ...cache }
  }
  throw new RpcError(-32602, "Resource not found", { uri })
}

/** What `prompts/get` answers. */
export function getPrompt(params: Readonly<Record<string, unknown>>): object {
  const input = (params["arguments"] ?? {}) as Readonly<Record<string, unknown>>
  if (params["name"] === "plain") return prompt("Hello.")
  if (params["name"] !== "greet") throw new RpcError(-32602, "Unknown prompt")
  const { name, tone = "plainly" } = input
  return prompt(`Greet ${String(name)} ${String(tone)}.`)
}

function prompt(text: string): object {
  return { description: "A prompt.", messages: [{ role: "user", content: { type: "text", text } }] }
}
