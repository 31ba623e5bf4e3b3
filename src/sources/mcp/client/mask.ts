import { CallError } from "../../../core/errors.ts"
import { maskSecrets } from "../../../http-client/secrets.ts"
import { redactText } from "../../../internal/redact.ts"
import { memberOf } from "./frames.ts"

const MOST_PASSING = 200
const DEEPEST = 32
const MOST_CAUSES = 5

/** What must not be shown of one server: values of its environment, its headers, its address and its arguments. */
export class Secrets {
  readonly #lasting: ReadonlySet<string>
  readonly #passing = new Set<string>()

  /** `lasting` are those of its configuration. */
  constructor(lasting: Iterable<string> = []) {
    this.#lasting = new Set(lasting)
  }

  add(value: string): void {
    this.#passing.delete(value)
    this.#passing.add(value)
    // Headers may be others with every request.
    const [oldest] = this.#passing
    if (this.#passing.size > MOST_PASSING && oldest !== undefined) this.#passing.delete(oldest)
  }

  /** Text without them, and without what looks like one. */
  text(text: string): string {
    return redactText(this.#known(text))
  }

  /** An error that has none of them in its message, its details and its causes. */
  error(error: CallError): CallError {
    const message = this.#known(error.message)
    const details = this.#copy(error.details, 0)
    const hasCause = error.cause !== undefined
    if (message === error.message && details === error.details && !hasCause) return error
    const { code, retryable, mayHaveExecuted, retryAfterMs } = error
    const masked = new CallError(code, message, {
      details,
      retryable,
      mayHaveExecuted,
      retryAfterMs,
      ...(hasCause && { cause: this.#cause(error.cause, 0) }),
    })
    return this.#withStack(masked, error)
  }

  #known(text: string): string {
    const all = [...this.#lasting, ...this.#passing]
    return all.length === 0 ? text : maskSecrets(text, all)
  }

  /** What caused an error, with what it says and nothing else: bodies, headers and arguments hang on some. */
  #cause(thrown: unknown, depth: number): unknown {
    if (!(thrown instanceof Error)) return undefined
    const { name, message, cause } = thrown
    const hasCause = cause instanceof Error && depth < MOST_CAUSES
    const bare = new Error(
      this.text(message),
      hasCause ? { cause: this.#cause(cause, depth + 1) } : undefined,
    )
    bare.name = name
    const code = memberOf(thrown, "code")
    if (typeof code === "number") Object.assign(bare, { code })
    else if (typeof code === "string") Object.assign(bare, { code: this.#known(code) })
    return this.#withStack(bare, thrown)
  }

  #withStack<TError extends Error>(masked: TError, { stack }: Error): TError {
    if (stack !== undefined) masked.stack = this.text(stack)
    return masked
  }

  /** The value itself when there is nothing to hide in it. */
  #copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#known(value)
    if (typeof value !== "object" || value === null) return value
    if (depth > DEEPEST) return "[too deep]"
    const before = Object.entries(value)
    const after = before.map(([key, item]) => {
      return [this.#known(key), this.#copy(item, depth + 1)] as const
    })
    const isSame = after.every(([key, item], at) => {
      return key === before[at]?.[0] && item === before[at]?.[1]
    })
    if (isSame) return value
    return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after)
  }
}
