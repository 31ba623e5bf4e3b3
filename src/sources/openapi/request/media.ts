import { essenceOf } from "../../../http-client/media-type.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { BodyModel, MediaModel } from "../model.ts"
import { Unwritable, isBytes } from "./text.ts"
import type { JsonCheck } from "./json.ts"

/** How a body of some content type is written. */
export type ContentKind = "json" | "sequence" | "form" | "multipart" | "text" | "xml" | "binary"

/** A content type chosen for a value. */
export interface ChosenMedia {
  readonly media: MediaModel
  /** The value of `Content-Type`: as declared, with wildcards made concrete. */
  readonly type: string
  readonly kind: ContentKind
}

/** How a body of this content type is written; wildcards are written as JSON. */
export function contentKind(type: string): ContentKind {
  const essence = essenceOf(type)
  if (isAny(essence)) return "json"
  if (/\b(ndjson|jsonl|jsonlines|json-lines|json-seq)$/.test(essence)) return "sequence"
  if (/\bjson\b/.test(essence)) return "json"
  if (essence === "application/x-www-form-urlencoded") return "form"
  if (essence.startsWith("multipart/")) return "multipart"
  if (/\bxml\b/.test(essence)) return "xml"
  if (essence.startsWith("text/") || /\b(yaml|javascript|graphql)\b/.test(essence)) return "text"
  return "binary"
}

/**
 * Chooses among the declared content types.
 *
 * Throws `Unwritable` when the caller wants one that is not declared, or when no declared one can
 * carry the value.
 */
export function chooseMedia(
  body: BodyModel,
  value: unknown,
  jsonCheck: JsonCheck,
  wanted: string | undefined,
): ChosenMedia {
  if (wanted !== undefined) return wantedMedia(body, wanted)
  const media =
    (isBytes(value) ? forBytes(body.media, value) : undefined) ??
    (jsonCheck.bytesAt === undefined ? undefined : ofKind(body.media, "multipart")) ??
    (value instanceof FormData ? ofKind(body.media, "multipart") : undefined) ??
    (value instanceof URLSearchParams ? ofKind(body.media, "form") : undefined) ??
    byRank(body.media, value)
  return { media, type: concrete(media.type, value), kind: kindFor(media, value) }
}

function wantedMedia(body: BodyModel, wanted: string): ChosenMedia {
  const essence = essenceOf(wanted)
  const media =
    body.media.find(({ type }) => tidy(type) === tidy(wanted)) ??
    body.media.find(({ type }) => essenceOf(type) === essence) ??
    body.media.find(({ type }) => covers(essenceOf(type), essence))
  if (media === undefined || essence.includes("*")) {
    const declared = body.media.map(({ type }) => `"${type}"`).join(", ")
    throw new Unwritable(`cannot be sent as "${wanted}"; the operation takes ${declared}`)
  }
  const isDeclared = essenceOf(media.type) === essence && !wanted.includes(";")
  return { media, type: isDeclared ? media.type : wanted, kind: contentKind(wanted) }
}

/** The best type for a binary body. */
function forBytes(media: readonly MediaModel[], value: unknown): MediaModel | undefined {
  const own = value instanceof Blob ? essenceOf(value.type) : ""
  return (
    media.find(({ type }) => own !== "" && essenceOf(type) === own) ??
    media.find(({ type, isBinary }) => isBinary && contentKind(type) !== "multipart") ??
    ofKind(media, "binary") ??
    media.find(({ type }) => isAny(essenceOf(type))) ??
    ofKind(media, "text") ??
    ofKind(media, "xml") ??
    ofKind(media, "sequence")
  )
}

/** The preferred content type for plain data. */
export function byRank<TMedia extends { readonly type: string }>(
  all: readonly TMedia[],
  value: unknown,
): TMedia {
  // A JSON Patch is a list of steps; a merge patch is an object.
  const isList = Array.isArray(value)
  const fitting = all.filter(({ type }) => !isPatch(type) || isJsonPatch(type) === isList)
  const media = fitting.length > 0 ? fitting : all
  const [first] = media
  if (first === undefined) throw new Unwritable("has no content type in the document")
  return (
    (isList && value.every(isStep) ? media.find(({ type }) => isJsonPatch(type)) : undefined) ??
    media.find(({ type }) => essenceOf(type) === "application/json") ??
    media.find(({ type }) => essenceOf(type) === "application/merge-patch+json") ??
    media.find(({ type }) => contentKind(type) === "json" && !isAny(essenceOf(type))) ??
    ofKind(media, "json") ??
    ofKind(media, "form") ??
    ofKind(media, "multipart") ??
    first
  )
}

function isPatch(type: string): boolean {
  return /patch\+json$/.test(essenceOf(type))
}

function isJsonPatch(type: string): boolean {
  return essenceOf(type) === "application/json-patch+json"
}

function isStep(value: unknown): boolean {
  return isRecord(value) && typeof value["op"] === "string" && typeof value["path"] === "string"
}

function ofKind<TMedia extends { readonly type: string }>(
  media: readonly TMedia[],
  kind: ContentKind,
): TMedia | undefined {
  return media.find(({ type }) => contentKind(type) === kind)
}

function kindFor(media: MediaModel, value: unknown): ContentKind {
  const kind = contentKind(media.type)
  if (kind === "multipart") return kind
  if (isBytes(value) && (media.isBinary || isAny(essenceOf(media.type)))) return "binary"
  return kind
}

/** Makes a wildcard concrete, since the server accepts anything that matches. */
function concrete(type: string, value: unknown): string {
  const essence = essenceOf(type)
  if (!essence.includes("*") && essence !== "") return type
  if (isBytes(value)) {
    const own = value instanceof Blob ? value.type : ""
    return own !== "" && covers(essence, essenceOf(own)) ? own : "application/octet-stream"
  }
  if (isAny(essence)) return "application/json"
  if (essence === "text/*") return "text/plain"
  if (essence === "multipart/*") return "multipart/form-data"
  return "application/octet-stream"
}

function covers(pattern: string, essence: string): boolean {
  if (pattern === "" || pattern === "*" || pattern === "*/*") return true
  return pattern.endsWith("/*") && essence.startsWith(pattern.slice(0, -1))
}

function isAny(essence: string): boolean {
  return essence === "" || essence === "*" || essence === "*/*" || essence === "application/*"
}

function tidy(type: string): string {
  return type.toLowerCase().replaceAll(/\s+/g, "")
}
