import type { ShownRequest } from "../../core/dry-run.ts"
import { maskSecrets, maskValue } from "../../http-client/secrets.ts"
import type { PreparedRequest } from "../../http-client/request.ts"
import { redactText } from "../../internal/redact.ts"
import { isSecretName } from "../../internal/secret-names.ts"

const MASK = "***"

/** A request as people are shown it: credentials masked, files by their sizes. */
export async function showRequest(
  { method, url, headers, body }: PreparedRequest,
  secrets: readonly string[],
): Promise<ShownRequest> {
  const shown = {
    method,
    url: maskValue(maskedUrl(url), secrets),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        isSecretName(name, "setting") ? MASK : maskValue(redactText(value), secrets),
      ]),
    ),
  }
  return body === undefined ? shown : { ...shown, body: maskSecrets(await bodyText(body), secrets) }
}

// In the text: a parsed URL would change the spelling of the rest.
function maskedUrl(url: string): string {
  return redactText(url).replaceAll(/([?&])([^=&#]+)=[^&#]*/g, (all, sign: string, name: string) =>
    isSecretName(name, "query") ? `${sign}${name}=${MASK}` : all,
  )
}

async function bodyText(body: NonNullable<PreparedRequest["body"]>): Promise<string> {
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
