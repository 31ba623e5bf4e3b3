import { isRecord } from "../../../src/internal/guards.ts"

/** A block of an MCP result for display. A malformed block is displayed as JSON. */
export type DisplayBlock =
  | { readonly kind: "text"; readonly text: string; readonly isJson: boolean }
  | { readonly kind: "image" | "audio"; readonly url: string; readonly type: string }
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
const IMAGES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
])
const AUDIO: ReadonlySet<string> = new Set([
  "audio/wav",
  "audio/x-wav",
  "audio/wave",
  "audio/mpeg",
  "audio/mp3",
  "audio/ogg",
  "audio/webm",
  "audio/flac",
  "audio/aac",
  "audio/mp4",
])

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
    case "audio":
      return mediaOf(data, mimeType)
    case "resource_link":
      return linkOf(fields)
    case "resource":
      return isRecord(resource) ? resourceOf(resource) : undefined
    default:
      return undefined
  }
}

/** The address of bytes in the page; `undefined` for types that are not displayed and for invalid base64. */
function mediaOf(data: unknown, mimeType: unknown): DisplayBlock | undefined {
  if (typeof data !== "string" || typeof mimeType !== "string") return undefined
  const type = (mimeType.split(";", 1)[0] ?? "").trim().toLowerCase()
  const kind = IMAGES.has(type) ? "image" : AUDIO.has(type) ? "audio" : undefined
  if (kind === undefined || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data.replaceAll(/\s/g, "")))
    return undefined
  const plain = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/")
  return { kind, url: `data:${type};base64,${plain}`, type }
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
  return {
    kind: "resource",
    uri,
    text: typeof text === "string" ? text : undefined,
    bytes: typeof blob === "string" ? Math.floor((blob.length * 3) / 4) : undefined,
    inner: mediaOf(blob, mimeType),
  }
}

/** Only addresses of the web: `javascript:` and the like stay text. */
function safeHref(uri: string): string | undefined {
  try {
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
