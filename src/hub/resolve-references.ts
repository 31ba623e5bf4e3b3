import { CallError, isCallError } from "../core/errors.ts"
import { reasonOf } from "../internal/message-text.ts"
import { isPlainObject } from "../internal/guards.ts"
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
  if (typeof value === "string") return (await fillText(value, resolve, source, path)) as TValue
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) =>
      fill(item, resolve, source, `${path}[${index}]`),
    )
    return (await Promise.all(items)) as TValue
  }
  if (!isPlainObject(value)) return value
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, item]) => {
      const below = path === "" ? key : `${path}.${key}`
      return [key, await fill(item, resolve, source, below)] as const
    }),
  )
  // From entries, so that "__proto__" is an ordinary key.
  return Object.fromEntries(entries) as TValue
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
