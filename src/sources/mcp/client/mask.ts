import { outwardOf, setOutward } from "../../../core/error-marks.ts"
import { changedError } from "../../../core/error-changes.ts"
import type { CallError } from "../../../core/errors.ts"
import { maskSecrets } from "../../../http-client/secrets.ts"
import { redact, redactText } from "../../../internal/redact.ts"
import { isSecretName } from "../../../internal/secret-names.ts"
import type { MCPChannel } from "../config.ts"
import { memberOf } from "./sdk.ts"

const MAX_TRANSIENT = 200
const MAX_DEPTH = 32
const MAX_CAUSES = 5

/** The secrets of one server, from its environment, headers, address and arguments; masks them in texts and errors. */
export class Secrets {
  readonly #permanent: ReadonlySet<string>
  readonly #transient = new Set<string>()

  /** `permanent` secrets come from the configuration. */
  constructor(permanent: Iterable<string> = []) {
    this.#permanent = new Set(permanent)
  }

  add(value: string): void {
    this.#transient.delete(value)
    this.#transient.add(value)
    // Headers may differ with every request.
    const [oldest] = this.#transient
    if (this.#transient.size > MAX_TRANSIENT && oldest !== undefined) this.#transient.delete(oldest)
  }

  /** Masks the secrets in a text, and everything that looks like one. */
  text(text: string): string {
    return redactText(this.#mask(text))
  }

  /** A copy of any value as JSON, with the secrets masked in it, and everything that looks like one. */
  data(value: unknown): unknown {
    return redact(this.#copy(value, 0))
  }

  /** Masks the secrets in the message, details and causes of an error. */
  error(error: CallError): CallError {
    const message = this.#mask(error.message)
    const details = this.#copy(error.details, 0)
    const hasCause = error.cause !== undefined
    if (message === error.message && details === error.details && !hasCause) return error
    const masked = changedError(error, {
      message,
      details,
      ...(hasCause && { cause: this.#cause(error.cause, 0) }),
    })
    const outward = outwardOf(error)
    if (outward !== undefined) {
      setOutward(masked, {
        message: this.#mask(outward.message),
        details: this.#copy(outward.details, 0),
      })
    }
    return this.#withStack(masked, error)
  }

  #mask(text: string): string {
    const all = [...this.#permanent, ...this.#transient]
    return all.length === 0 ? text : maskSecrets(text, all)
  }

  /** Copies only the message and code of a cause: some have bodies, headers and arguments attached. */
  #cause(thrown: unknown, depth: number): unknown {
    if (!(thrown instanceof Error)) return undefined
    const { name, message, cause } = thrown
    const hasCause = cause instanceof Error && depth < MAX_CAUSES
    const bare = new Error(
      this.text(message),
      hasCause ? { cause: this.#cause(cause, depth + 1) } : undefined,
    )
    bare.name = name
    const code = memberOf(thrown, "code")
    if (typeof code === "number") Object.assign(bare, { code })
    else if (typeof code === "string") Object.assign(bare, { code: this.#mask(code) })
    return this.#withStack(bare, thrown)
  }

  #withStack<TError extends Error>(masked: TError, { stack }: Error): TError {
    if (stack !== undefined) masked.stack = this.text(stack)
    return masked
  }

  /** Masks the secrets in data; returns the same value when there are none. */
  #copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#mask(value)
    if (typeof value !== "object" || value === null) return value
    if (depth > MAX_DEPTH) return "[too deep]"
    const before = Object.entries(value)
    const after = before.map(([key, item]) => {
      return [this.#mask(key), this.#copy(item, depth + 1)] as const
    })
    const isSame = after.every(([key, item], at) => {
      return key === before[at]?.[0] && item === before[at]?.[1]
    })
    if (isSame) return value
    return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after)
  }
}

const FLAG = /^--?([\w.-]+)$/
const ASSIGNMENT = /^(?:--?)?([\w.-]+)\s*[=:]\s*(.+)$/s
// Looks generated: some services put a key into the path.
const GENERATED = /^(?=.*\d)(?=.*[a-z])[\w.~-]{20,}$/i

/** The secrets of a configuration, to be masked in messages and logs. */
export function secretsOfChannel(channel: MCPChannel): readonly string[] {
  switch (channel.kind) {
    case "stdio":
      return [...Object.values(channel.env), ...argumentSecrets(channel.args)]
    case "http":
      return urlSecrets(channel.url)
    case "own":
      return []
  }
}

function urlSecrets({ search, searchParams, pathname }: URL): string[] {
  const segments = pathname.split("/").filter((segment) => GENERATED.test(segment))
  const raw =
    search === ""
      ? []
      : search
          .slice(1)
          .split("&")
          .map((pair) => pair.replace(/^[^=]*=/, ""))
  return [...searchParams.values(), ...raw, ...segments]
}

/** Values of arguments whose names say that they are secret: `--api-key x`, `--token=x`, `Authorization: x`. */
function argumentSecrets(args: readonly string[]): string[] {
  return args.flatMap((argument, at) => {
    const [, name, value] = ASSIGNMENT.exec(argument) ?? []
    if (name !== undefined && value !== undefined) {
      return isSecretName(name, "setting") ? [value, value.replace(/^\w+ +/, "")] : []
    }
    const flag = FLAG.exec(args[at - 1] ?? "")?.[1]
    return flag !== undefined && isSecretName(flag, "setting") ? [argument] : []
  })
}

// Longer texts lose their end when secrets are masked.
const MAX_TAIL = 16_000

/** The end of a text, as much of it as is searched for secrets; a line that would be cut is left out. */
export function lastLines(text: string): string {
  if (text.length <= MAX_TAIL) return text
  const end = text.slice(-MAX_TAIL)
  return end.slice(end.indexOf("\n") + 1)
}
