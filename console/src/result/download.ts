import { fromBase64 } from "../../../src/internal/base64.ts"

/** A file to be saved. */
export interface Download {
  readonly name: string
  readonly type: string
  readonly content: string | Uint8Array<ArrayBuffer>
}

/** What is saved of a result: its bytes, if it is a file, or its JSON. */
export function downloadOf(envelope: object | undefined, json: string): Download {
  const { data, binary } = (envelope ?? {}) as {
    readonly data?: unknown
    readonly binary?: Readonly<Record<string, unknown>>
  }
  const kind = binary?.[""]
  const bytes = kind !== undefined && typeof data === "string" ? fromBase64(data) : undefined
  if (bytes === undefined) return { name: "result.json", type: "application/json", content: json }
  const { name, type } = kind as { readonly name?: unknown; readonly type?: unknown }
  return {
    name: typeof name === "string" && name !== "" ? name : "result.bin",
    // A type of its own could let the browser run what is in the file.
    type: typeof type === "string" && /^(?:image|audio|video)\//.test(type) ? type : BYTES,
    content: bytes,
  }
}

const BYTES = "application/octet-stream"

/** Saves a file. */
export function download({ name, type, content }: Download): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The browser has taken it by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
