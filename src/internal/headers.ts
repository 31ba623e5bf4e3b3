import type { OptionRule } from "./options.ts"

/** Headers as an object by name, or of the platform's class. */
export type HeadersLike = Readonly<Record<string, string>> | Headers

/** Headers may carry credentials, so messages never contain their values. */
export const HEADERS: OptionRule = {
  secret: {
    either: [
      { record: "string" },
      { methods: ["get", "entries"], expected: "an object of strings or a Headers" },
    ],
  },
}

/** Headers by name. */
export function plainHeaders(headers: HeadersLike): Readonly<Record<string, string>> {
  return Symbol.iterator in headers
    ? Object.fromEntries(headers as Iterable<[string, string]>)
    : headers
}

/** The preference to get a file as the body of the response. */
export const FILE_PREFERENCE = "return=file"
