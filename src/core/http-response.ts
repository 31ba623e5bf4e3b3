import { typeName } from "../internal/message-text.ts"

/** The attributes of a cookie. By default it is `HttpOnly`, `SameSite=Lax`, for all paths, and only sent over HTTPS. */
export interface CookieOptions {
  /** Seconds until the browser forgets it; by default it does when it is closed. */
  readonly maxAge?: number | undefined
  readonly expires?: Date | undefined
  /** Default: `/`. */
  readonly path?: string | undefined
  /** Also sends it to the hosts below this one; by default only the same host gets it. */
  readonly domain?: string | undefined
  /** Whether scripts of the page cannot read it; default: true. */
  readonly httpOnly?: boolean | undefined
  /** Whether it is sent over HTTPS only; default: true, except for a request to `http://localhost`. */
  readonly secure?: boolean | undefined
  /** Whether requests that other sites cause have it; default: `lax`, which means only links. */
  readonly sameSite?: "strict" | "lax" | "none" | undefined
  readonly partitioned?: boolean | undefined
}

/**
 * What a handler or middleware sets on the HTTP response to its call.
 *
 * What cannot be sent is a `TypeError`, for every caller.
 */
export interface HTTPResponse {
  /** From 200 to 399. 204, 205, 304 and redirects, which need the header `location`, have no body. */
  status: number | undefined
  /** The headers to add. Names that belong to the server, such as `content-length`, cannot be set. */
  readonly headers: Headers
  /** Sets a cookie, in place of an earlier one with the same name, domain and path. */
  setCookie(name: string, value: string, options?: CookieOptions): void
  /** Makes the browser forget a cookie. Its `path` and `domain` have to be those that it was set with. */
  deleteCookie(name: string, options?: Pick<CookieOptions, "path" | "domain">): void
}

/** The HTTP response to the call of a handler or middleware. */
export const httpResponse: {
  /**
   * The response to a call. Every call has one: if it did not come as an HTTP request, or if a handler made it, nothing
   * reads what is set.
   */
  read(context: { readonly metadata?: Readonly<Record<string, unknown>> | undefined }): HTTPResponse
} = {
  read: (context) => {
    const { httpResponse: host } = context as { readonly httpResponse?: ResponseHost | undefined }
    return host === undefined ? new OwnResponse() : responseOf(host)
  },
}

/** Call options of an HTTP request. */
export interface AnsweredOverHTTP {
  /** The request, for the response to the call. */
  readonly answering?: ResponseHost | undefined
}

/** The request that a response belongs to. Servers contain nothing else of `httpResponse`: handlers that use it bring it. */
export interface ResponseHost {
  /** Created on first use. */
  response?: OwnResponse | undefined
  /** Whether the request came to this machine, without TLS. */
  isPlainLoopback(): boolean
  warn(message: string): void
}

function responseOf(host: ResponseHost): OwnResponse {
  return (host.response ??= new OwnResponse(host))
}

/** A response that a server sends, or that is not sent. */
export class OwnResponse implements HTTPResponse {
  #host: ResponseHost | undefined
  #status: number | undefined
  #headers: Headers | undefined
  /** The response has begun: changes have no effect. */
  #isSent = false

  constructor(host?: ResponseHost) {
    this.#host = host
  }

  get status(): number | undefined {
    return this.#status
  }

  set status(status: number | undefined) {
    const isValid =
      Number.isInteger(status) && (status as number) >= 200 && (status as number) < 400
    if (status !== undefined && !isValid) {
      throw new TypeError(
        `httpResponse: status must be a whole number from 200 to 399, got ${shown(status)}. For others, ` +
          "throw a CallError: its code or errorSchemas give the status.",
      )
    }
    if (this.canChange()) this.#status = status
  }

  get headers(): Headers {
    return (this.#headers ??= responseHeaders(this))
  }

  setCookie(name: string, value: string, options: CookieOptions = {}): void {
    const line = cookieLine(name, value, options, () => this.#host?.isPlainLoopback() === true)
    const { headers } = this
    const place = placeOf(line)
    const others = headers.getSetCookie().filter((other) => placeOf(other) !== place)
    headers.delete("set-cookie")
    for (const cookie of [...others, line]) headers.append("set-cookie", cookie)
  }

  deleteCookie(name: string, options: Pick<CookieOptions, "path" | "domain"> = {}): void {
    const { path, domain } = options
    this.setCookie(name, "", { path, domain, maxAge: 0, expires: new Date(0) })
  }

  /** Whether it has not been sent; warns the first time otherwise. */
  canChange(): boolean {
    if (!this.#isSent) return true
    this.warn(
      "The HTTP response had begun when a handler set a status, header or cookie, which is lost. " +
        "Set it before the result is returned, in a stream before the first await.",
    )
    this.#host = undefined
    return false
  }

  warn(message: string): void {
    this.#host?.warn(message)
  }

  /** Removes the status and the headers that describe a result, because there is none. Cookies and other headers stay. */
  dropResult(): void {
    if (this.#isSent) return
    this.#status = undefined
    const { headers } = this
    for (const name of [...headers.keys()]) if (OF_RESULT.test(name)) headers.delete(name)
  }

  /** Fixes it. */
  seal(): this {
    this.#isSent = true
    return this
  }

  /** Fixes it, and adds its cookies to the response to another request. */
  passCookies(host: ResponseHost): void {
    for (const cookie of this.seal().headers.getSetCookie()) {
      responseOf(host).headers.append("set-cookie", cookie)
    }
  }
}

/** Headers that describe a result. */
const OF_RESULT = /^(?:(?:cache-control|expires|pragma|age|etag|last-modified|location)$|content-)/

/** Headers that only the server sets. */
const RESERVED =
  /^(?:(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|date|request-id|preference-applied|content-(?:type|length|encoding|range|disposition)|x-content-type-options|cross-origin-resource-policy)$|proxy-|access-control-|content-security-policy)/

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that check what is set. Not a subclass: that would load the platform's `fetch` with this module. */
function responseHeaders(of: OwnResponse): Headers {
  const headers = new Headers()
  const set = headers.set.bind(headers)
  const append = headers.append.bind(headers)
  const remove = headers.delete.bind(headers)
  return Object.assign(headers, {
    set(name: string, value: string): void {
      if (accepts(of, name, value)) set(name, value)
    },
    append(name: string, value: string): void {
      if (accepts(of, name, value)) append(name, value)
    },
    delete(name: string): void {
      if (accepts(of, name, "")) remove(name)
    },
  })
}

/** Whether a header can still be set. Throws a `TypeError` if it never can. */
function accepts(of: OwnResponse, name: string, value: string): boolean {
  if (typeof name !== "string" || !TOKEN.test(name)) {
    throw new TypeError(`httpResponse: ${shown(name)} is not the name of a header.`)
  }
  if (RESERVED.test(name.toLowerCase())) {
    throw new TypeError(
      `httpResponse: the server sets the header "${name}". The result decides its content (a File has a type and a ` +
        "name), and the options of toHTTP who may read it (cors).",
    )
  }
  // The value may be a credential, and is not repeated.
  if (!FIELD_VALUE.test(String(value))) {
    throw new TypeError(
      `httpResponse: the value of the header "${name}" has a line break, or another character that a header cannot have.`,
    )
  }
  return of.canChange()
}

/** Browsers ignore longer cookies. */
const MAX_COOKIE = 4096

/** The text of `Set-Cookie`. Throws a `TypeError` for what browsers would ignore or read as something else. */
function cookieLine(
  name: string,
  value: string,
  options: CookieOptions,
  isPlain: () => boolean,
): string {
  const { path = "/", domain, maxAge, expires, httpOnly = true, sameSite = "lax" } = options
  const wrong = (what: string): never => {
    throw new TypeError(`setCookie(${shown(name)}): ${what}.`)
  }
  if (typeof name !== "string" || !TOKEN.test(name)) wrong("the name must be a word such as sid")
  if (typeof value !== "string") wrong(`the value must be a string, got ${typeName(value)}`)
  if (/\p{Surrogate}/u.test(value)) wrong("the value has half of a character")
  if (!/^\/[^;\p{Cc}]*$/u.test(path)) wrong("path must begin with a slash")
  if (domain !== undefined && !/^[\w.-]+$/.test(domain)) wrong("domain must be the name of a host")
  if (maxAge !== undefined && !Number.isInteger(maxAge)) wrong("maxAge must be whole seconds")
  if (expires !== undefined && Number.isNaN(expires.getTime())) wrong("expires must be a date")
  if (!["strict", "lax", "none"].includes(sameSite)) wrong("sameSite must be strict, lax or none")
  const isHost = /^__host-/i.test(name)
  const needsTLS =
    isHost || /^__secure-/i.test(name) || sameSite === "none" || options.partitioned === true
  if (isHost && (path !== "/" || domain !== undefined)) wrong("__Host- has no domain, and path /")
  if (needsTLS && options.secure === false) wrong("such a cookie has to be secure")
  const isSecure = needsTLS || (options.secure ?? !isPlain())
  const pair = `${name}=${encodeURIComponent(value)}`
  if (pair.length > MAX_COOKIE)
    wrong(`a cookie has at most ${MAX_COOKIE} bytes. Store an id instead`)
  return [
    pair,
    `Path=${path}`,
    domain !== undefined && `Domain=${domain}`,
    maxAge !== undefined && `Max-Age=${maxAge}`,
    expires !== undefined && `Expires=${expires.toUTCString()}`,
    httpOnly && "HttpOnly",
    isSecure && "Secure",
    `SameSite=${sameSite[0]?.toUpperCase()}${sameSite.slice(1)}`,
    options.partitioned === true && "Partitioned",
  ]
    .filter(Boolean)
    .join("; ")
}

/** What identifies a cookie: its name, path and domain. */
function placeOf(line: string): string {
  const [pair = "", ...attributes] = line.split("; ")
  const [name = ""] = pair.split("=", 1)
  return [name, ...attributes.filter((one) => /^(?:path|domain)=/i.test(one)).sort()].join(";")
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}
