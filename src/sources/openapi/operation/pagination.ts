import { escapeToken, isPlainRecord } from "../../../schema/json.ts"

/** What a document says about how the next page is found. */
export interface PaginationHint {
  /** JSON pointer to the address of the next page in an answer. */
  readonly nextUrl?: string | undefined
}

/** The hint that an operation carries; `x-ms-pageable` is the one in real use. */
export function paginationOf(raw: Readonly<Record<string, unknown>>): PaginationHint | undefined {
  const pageable = raw["x-ms-pageable"]
  const name = isPlainRecord(pageable) ? pageable["nextLinkName"] : undefined
  return typeof name === "string" ? Object.freeze({ nextUrl: `/${escapeToken(name)}` }) : undefined
}
