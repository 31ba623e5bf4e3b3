import { CallError, isCallError } from "../core/errors.ts"
import { reasonOf } from "../internal/message-text.ts"
import { isPlainObject } from "../internal/guards.ts"
import { fillTexts } from "../internal/references.ts"
import type { OptionsSchema } from "../internal/options.ts"

/** Resolves the `${…}` references of a text. */
export type Resolve = (text: string) => Promise<string>

/**
 * Copies plain data and resolves every reference in its strings. Functions and class instances
 * stay as they are.
 *
 * Rejects with an error that says where the reference is, and never shows its value.
 */
export async function fill<TValue>(
  value: TValue,
  resolve: Resolve,
  source: string | undefined,
  path = "",
): Promise<TValue> {
  return await fillTexts(value, (text, at) => fillText(text, resolve, source, at), path)
}

/** The options among the fields of a source, with references resolved. */
export async function fillOptions<TOptions extends object>(
  fields: object,
  rules: OptionsSchema<TOptions>,
  resolve: Resolve,
  source: string,
): Promise<Partial<TOptions>> {
  const given = Object.entries(fields).filter(([name]) => Object.hasOwn(rules, name))
  return (await fill(Object.fromEntries(given), resolve, source)) as Partial<TOptions>
}

async function fillText(
  text: string,
  resolve: Resolve,
  source: string | undefined,
  path: string,
): Promise<string> {
  if (!/[${]/.test(text)) return text
  try {
    return await resolve(text)
  } catch (cause) {
    const { code, details } = isCallError(cause) ? cause : { code: "VALIDATION_ERROR" }
    const place = source === undefined ? path : `Source "${source}", ${path}`
    throw new CallError(code, `${place}: ${reasonOf(cause)}`, {
      cause,
      retryable: false,
      ...(details !== undefined && { details }),
    })
  }
}

/** A copy of plain data in which every text is mapped, such as masked. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}
