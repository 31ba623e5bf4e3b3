import { isRecord } from "../../../internal/guards.ts"
import { escapeToken } from "../../../schema/json.ts"

/** The pagination hint of a document. */
export interface PaginationHint {
  /** JSON pointer to the address of the next page in a response. */
  readonly nextUrl?: string | undefined
}

/** Reads the pagination hint of an operation, `x-ms-pageable`. */
export function paginationOf(raw: Readonly<Record<string, unknown>>): PaginationHint | undefined {
  const pageable = raw["x-ms-pageable"]
  const name = isRecord(pageable) ? pageable["nextLinkName"] : undefined
  return typeof name === "string" ? Object.freeze({ nextUrl: `/${escapeToken(name)}` }) : undefined
}
