import { CallError } from "../../core/errors.ts"
import type { Hub } from "../../hub/model.ts"
import { redactText } from "../../internal/redact.ts"
import { isSecretName } from "../../internal/secret-names.ts"
import { sourceOf } from "../../sources/openapi/origin.ts"
import type { PreparedCall } from "../model.ts"

const MASK = "***"

/** The HTTP request that a call would send, credentials masked; `undefined` when it sends none. */
export async function preparedCall(
  hub: Hub,
  id: string,
  input: unknown,
  signal: AbortSignal,
): Promise<PreparedCall | undefined> {
  const operation = hub.registry.get(id)
  if (operation === undefined) {
    throw new CallError("OPERATION_NOT_FOUND", `Operation "${id}" is not registered.`)
  }
  if (sourceOf(operation.handler) === undefined) return undefined
  const { prepareRequest } = await import("../../from-openapi.ts")
  const { method, url, headers, body } = await prepareRequest(operation, input, { signal })
  // Resolved references are secrets in every place.
  const mask = (text: string): string => hub.mask(text)
  return {
    method,
    url: mask(maskedUrl(url)),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        isSecretName(name, "setting") ? MASK : mask(redactText(value)),
      ]),
    ),
    body: body === undefined ? undefined : mask(await bodyText(body)),
  }
}

// In the text: a parsed URL would change the spelling of the rest.
function maskedUrl(url: string): string {
  return redactText(url).replaceAll(/([?&])([^=&#]+)=[^&#]*/g, (all, sign: string, name: string) =>
    isSecretName(name, "query") ? `${sign}${name}=${MASK}` : all,
  )
}

type Body = string | Uint8Array | Blob | FormData | ReadableStream<Uint8Array>

async function bodyText(body: Body): Promise<string> {
  if (typeof body === "string") return body
  if (body instanceof Uint8Array) return `(${body.length} bytes)`
  if (body instanceof Blob) return `(${body.size} bytes, ${body.type})`
  if (body instanceof FormData) return formText(body)
  await body.cancel()
  return "(a stream of bytes)"
}

function formText(form: FormData): string {
  return Array.from(form, ([name, value]) =>
    typeof value === "string"
      ? `${name}=${value}`
      : `${name}=(file ${JSON.stringify(value.name)}, ${value.size} bytes)`,
  ).join("\n")
}
