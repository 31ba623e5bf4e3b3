import type { OpenAPISource } from "../../config/kinds/openapi.ts"
import type { CommandSource } from "../model.ts"
import { titleOfFile } from "../target/title.ts"

export const openapi: CommandSource<OpenAPISource> = {
  option: {
    value: "file|url",
    description: "Operations of an OpenAPI document, without a configuration",
    complete: "file",
  },
  ownOptions: {
    "base-url": {
      type: "string",
      value: "url",
      description: "Where requests of --openapi go; default: what the document says",
    },
    auth: {
      type: "string",
      value: "credential",
      description: "The credential of operations of --openapi that need one; may say ${env:NAME}",
    },
  },
  atAddress: "a document",
  async sourceOf(document, headers, args, io) {
    const isWeb = /^https?:\/\//i.test(document)
    const namespace = isWeb ? undefined : await titleOfFile(document, io.cwd)
    const [baseUrl, auth] = [args.text("base-url"), args.text("auth")]
    return { openapi: document, baseUrl, auth, headers, namespace }
  },
  recognises({ at, text, content = "" }) {
    if (at === "file") return isDocument(content)
    if (!/^https?:/i.test(text)) return false
    return /\.(?:json|ya?ml)$|openapi|swagger|api-docs/i.test(new URL(text).pathname)
  },
  consequence({ openapi: document, baseUrl = "the servers it names" }, secrets) {
    return `reads ${document} and calls ${baseUrl}${secrets}`
  },
}

/** Whether a text begins like an OpenAPI document. */
export function isDocument(text: string): boolean {
  return /^\uFEFF?(?:\s|---|#[^\n]*\n|\{)*"?(?:openapi|swagger)"?\s*:/m.test(text.slice(0, 4096))
}
