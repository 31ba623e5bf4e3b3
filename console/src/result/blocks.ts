import { fromBase64 } from "../../../src/internal/base64.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import type { ResponseEnvelope } from "../api/model.ts"

/** A block of an MCP result for display. A malformed block is displayed as JSON. */
export type DisplayBlock =
  | { readonly kind: "text"; readonly text: string; readonly isJson: boolean }
  | {
      readonly kind: "image" | "audio" | "video" | "pdf"
      readonly url: string
      readonly type: string
    }
  | { readonly kind: "page"; readonly html: string }
  | {
      readonly kind: "link"
      readonly uri: string
      /** The address, when a browser may open it. */
      readonly href: string | undefined
      readonly name: string
      readonly description: string | undefined
    }
  | {
      readonly kind: "resource"
      readonly uri: string
      readonly text: string | undefined
      /** The number of bytes that are not displayed. */
      readonly bytes: number | undefined
      readonly inner: DisplayBlock | undefined
    }
  | { readonly kind: "unknown"; readonly value: unknown }

/** Types that show a picture and run nothing. SVG in an image element runs nothing either. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const AUDIO = /^audio\/(?:wav|x-wav|wave|mpeg|mp3|ogg|webm|flac|aac|mp4)$/
const VIDEO = /^video\/(?:mp4|webm|ogg)$/

/** How a block of an MCP result is displayed. */
export function toDisplayBlock(block: unknown): DisplayBlock {
  return (isRecord(block) ? knownBlock(block) : undefined) ?? { kind: "unknown", value: block }
}

function knownBlock(fields: Readonly<Record<string, unknown>>): DisplayBlock | undefined {
  const { type, text, data, mimeType, resource } = fields
  switch (type) {
    case "text":
      if (typeof text !== "string") return undefined
      return { kind: "text", text, isJson: isJsonText(text) }
    case "image":
    case "audio": {
      const media = mediaOf(data, mimeType)
      return media?.kind === "image" || media?.kind === "audio" ? media : undefined
    }
    case "resource_link":
      return linkOf(fields)
    case "resource":
      return isRecord(resource) ? resourceOf(resource) : undefined
    default:
      return undefined
  }
}

/** The contents of a resource, or the messages of a prompt, as blocks; `undefined` for other data. */
export function servedBlocks(data: unknown): readonly unknown[] | undefined {
  if (!isRecord(data)) return undefined
  const { contents, messages } = data
  if (Array.isArray(contents) && contents.length > 0 && contents.every(isRecord))
    return contents.map((resource) => ({ type: "resource", resource }))
  if (!Array.isArray(messages) || !messages.every(isRecord) || messages.length === 0)
    return undefined
  const isDialogue = messages.some(({ role }) => role !== "user")
  return messages.flatMap(({ role, content }) =>
    isDialogue ? [{ type: "text", text: `${String(role)}:` }, content] : [content],
  )
}

/** The address of bytes in the page; `undefined` for types that are not displayed and for invalid base64. */
function mediaOf(data: unknown, mimeType: unknown): DisplayBlock | undefined {
  if (typeof data !== "string" || typeof mimeType !== "string") return undefined
  const type = essenceOf(mimeType)
  const kind = kindOf(type)
  if (kind === undefined || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data.replaceAll(/\s/g, "")))
    return undefined
  const plain = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/")
  return { kind, url: `data:${type};base64,${plain}`, type }
}

function kindOf(type: string): "image" | "audio" | "video" | "pdf" | undefined {
  if (IMAGES.test(type)) return "image"
  if (AUDIO.test(type)) return "audio"
  return VIDEO.test(type) ? "video" : type === "application/pdf" ? "pdf" : undefined
}

/** A media type without its parameters: `text/csv` of `text/csv; charset=utf-8`. */
function essenceOf(mimeType: string): string {
  return (mimeType.split(";", 1)[0] ?? "").trim().toLowerCase()
}

/** What a result is that has a media type: a file, or the body of a response; `undefined` for JSON and plain text. */
export function resultBlock(
  envelope: ResponseEnvelope & { readonly binary?: Readonly<Record<string, unknown>> },
): DisplayBlock | { readonly kind: "csv"; readonly text: string } | undefined {
  const { data, meta, binary } = envelope
  const file = binary?.[""]
  const type = isRecord(file) ? file["type"] : meta.source === "http" && meta.contentType
  if (typeof data !== "string" || typeof type !== "string") return undefined
  if (file !== undefined && kindOf(essenceOf(type)) !== undefined) return mediaOf(data, type)
  const text = file === undefined ? data : textOf(data)
  if (text === undefined) return undefined
  switch (essenceOf(type)) {
    case "image/svg+xml":
      return { kind: "image", url: `data:image/svg+xml,${encodeURIComponent(text)}`, type }
    case "text/html":
      return { kind: "page", html: text }
    case "text/csv":
      return { kind: "csv", text }
    default:
      return undefined
  }
}

function textOf(base64: string): string | undefined {
  const bytes = fromBase64(base64)
  return bytes && new TextDecoder().decode(bytes)
}

function linkOf(fields: Readonly<Record<string, unknown>>): DisplayBlock | undefined {
  const { uri, name, title, description } = fields
  if (typeof uri !== "string") return undefined
  return {
    kind: "link",
    uri,
    href: safeHref(uri),
    name: typeof title === "string" ? title : typeof name === "string" ? name : uri,
    description: typeof description === "string" ? description : undefined,
  }
}

function resourceOf(resource: Readonly<Record<string, unknown>>): DisplayBlock | undefined {
  const { uri, text, blob, mimeType } = resource
  if (typeof uri !== "string") return undefined
  const shown = typeof text === "string" ? textBlock(text, mimeType) : undefined
  return {
    kind: "resource",
    uri,
    text: typeof text === "string" && shown === undefined ? text : undefined,
    bytes: typeof blob === "string" ? Math.floor((blob.length * 3) / 4) : undefined,
    inner: shown ?? mediaOf(blob, mimeType),
  }
}

/** A text that its media type shows better: a page, a picture, JSON. */
function textBlock(text: string, mimeType: unknown): DisplayBlock | undefined {
  switch (typeof mimeType === "string" ? essenceOf(mimeType) : "") {
    case "text/html":
      return { kind: "page", html: text }
    case "image/svg+xml": {
      const url = `data:image/svg+xml,${encodeURIComponent(text)}`
      return { kind: "image", url, type: "image/svg+xml" }
    }
    case "application/json":
      return { kind: "text", text, isJson: isJsonText(text) }
    default:
      return undefined
  }
}

/** Only addresses of the web: `javascript:` and the like stay text. */
export function safeHref(uri: string): string | undefined {
  try {
    if (!/^https?:/i.test(uri)) return undefined
    const { protocol, href } = new URL(uri)
    return protocol === "https:" || protocol === "http:" ? href : undefined
  } catch {
    return undefined
  }
}

function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || text.length > 2_000_000) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
