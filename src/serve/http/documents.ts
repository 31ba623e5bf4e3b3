import { createDocument } from "./openapi/document.ts"
import type { DocumentSecurity } from "./openapi/model.ts"
import { HTTPRefusal } from "./context.ts"
import type { HTTPContext, Routes } from "./context.ts"
import type { HTTPCaller } from "../caller.ts"

// Maximum number of cached documents, one per view of the API.
const MAX_CACHED = 16

/** `GET /openapi.json`: the operations that the caller may call. Rebuilt when the registry has changed. */
export function createDocuments(context: HTTPContext, stops: (() => void)[]): Routes {
  const { rest } = context.options
  if (rest === undefined) return []
  const texts = new Map<string, string>()
  stops.push(context.registry.onChange(() => texts.clear()))
  return [
    {
      method: "GET",
      path: "/openapi.json",
      handle: ({ incoming, caller }) => {
        const openapi = versionOf(incoming.query)
        const { mountPath } = incoming
        const key = `${openapi} ${mountPath ?? "."} ${viewOf(context, caller)}`
        let text = texts.get(key)
        if (text === undefined) {
          text = documentText(context, caller, { openapi, mountPath, restPath: rest.path })
          if (texts.size >= MAX_CACHED) texts.clear()
          texts.set(key, text)
        }
        return context.json(text)
      },
    },
  ]
}

interface DocumentPlace {
  readonly openapi: "3.1" | "3.2"
  readonly mountPath: string | undefined
  readonly restPath: string
}

function documentText(
  { registry, options }: HTTPContext,
  { identity }: HTTPCaller,
  { openapi, mountPath, restPath }: DocumentPlace,
): string {
  const { title, version, description, basePath, isExposed, auth, authenticate } = options
  const security: DocumentSecurity[] = []
  if (auth?.apiKeys !== undefined) security.push("apiKey")
  if (auth?.jwt !== undefined) security.push("jwt")
  if (authenticate !== undefined || auth?.authenticate !== undefined) security.push("bearer")
  return JSON.stringify(
    createDocument(registry, {
      title,
      version,
      description,
      restPath: `${mountPath ?? ""}${basePath}${restPath}`,
      // With an unknown prefix, paths are relative to the document.
      ...(mountPath === undefined && basePath === "" && { servers: [{ url: "." }] }),
      security,
      openapi,
      isExposed,
      identity,
    }),
  )
}

function versionOf(query: string): "3.1" | "3.2" {
  const version = new URLSearchParams(query).get("version") ?? "3.1"
  if (version === "3.1" || version === "3.2") return version
  throw new HTTPRefusal(400, "VALIDATION_ERROR", "The parameter version must be 3.1 or 3.2.")
}

/** Key of the operations that a caller sees, one character for each. */
function viewOf(context: HTTPContext, caller: HTTPCaller): string {
  let view = ""
  for (const spec of context.registry.getAllSpecs())
    view += context.maySee(spec, caller) ? "1" : "0"
  return view
}
