import { textOf } from "../../json.ts"
import type { Flat } from "../flatten.ts"
import { textLike } from "./pattern-text.ts"

const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "ada@example.com",
  "idn-email": "ada@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  "uri-reference": "/example",
  iri: "https://example.com/",
  "iri-reference": "/example",
  "uri-template": "/example/{id}",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  "json-pointer": "/example",
  "relative-json-pointer": "0/example",
  regex: "^example$",
  byte: "ZXhhbXBsZQ==",
}

// Longer than any text that is worth showing.
const MAX_LENGTH = 2000

/** A text that fits the format, the length and, if possible, the pattern of a schema. */
export function sampleText(flat: Flat): string {
  const first = (keyword: string): unknown =>
    flat.layers.find(({ schema }) => schema[keyword] !== undefined)?.schema[keyword]
  const format = textOf(first("format"))
  const encoding = textOf(first("contentEncoding"))
  const formatName = encoding === "base64" ? "byte" : (format ?? "")
  if (Object.hasOwn(BY_FORMAT, formatName)) return BY_FORMAT[formatName] as string
  const least = boundOf(first("minLength"), 0)
  const most = boundOf(first("maxLength"), MAX_LENGTH)
  const pattern = textOf(first("pattern"))
  const made = pattern === undefined ? undefined : textLike(pattern, least, most)
  return made ?? sized("example", least, most)
}

function boundOf(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(value, MAX_LENGTH) : otherwise
}

function sized(text: string, least: number, most: number): string {
  return text.padEnd(least, text).slice(0, Math.max(least, most))
}
