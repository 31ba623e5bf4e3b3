import type { Credential, Secret } from "../config.ts"
import type { AppliedAuth, SecurityScheme } from "../model.ts"
import { CallError } from "../../../core/errors.ts"
import { fromBase64, toBase64 } from "../../../internal/base64.ts"
import { checkValue, readSecret, tokenRequest, unauthenticated } from "./secrets.ts"
import type { AuthContext, TokenRequest } from "./secrets.ts"

type Place = "header" | "query" | "cookie"

// The platform and the request writer set these; a document must not.
const RESERVED =
  /^(?:host|content-(?:length|type|encoding)|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie2?|set-cookie2?)$/i
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Whether `auth`, the credential for everything, can satisfy a scheme. */
export function fits(scheme: SecurityScheme, credential: Credential | Secret): boolean {
  const kind = typeof credential === "object" ? credential : undefined
  switch (scheme.type) {
    case "apiKey":
      if (kind === undefined) return true
      if (kind.type === "bearer") return isAuthorization(scheme)
      return kind.type === "apiKey" && isSamePlace(scheme, kind)
    case "http":
      if (kind === undefined) return true
      if (isBasic(scheme)) return kind.type === "basic"
      return kind.type === "bearer" || (kind.type === "clientCredentials" && isBearer(scheme))
    case "oauth2":
    case "openIdConnect":
      return kind === undefined || kind.type === "bearer" || kind.type === "clientCredentials"
    case "mutualTLS":
    case "unknown":
      return false
  }
}

/** Like `fits`, but a bare secret does not count as user and password: it is usually a token. */
export function fitsWell(scheme: SecurityScheme, credential: Credential | Secret): boolean {
  if (typeof credential !== "object" && scheme.type === "http" && isBasic(scheme)) return false
  return fits(scheme, credential)
}

function isBasic(scheme: { readonly scheme: string }): boolean {
  return scheme.scheme.toLowerCase() === "basic"
}

function isBearer(scheme: { readonly scheme: string }): boolean {
  return scheme.scheme.toLowerCase() === "bearer"
}

/** Whether a scheme is a key in `Authorization`, as some documents describe bearer tokens. */
function isAuthorization(scheme: { readonly in: string; readonly name: string }): boolean {
  return scheme.in === "header" && scheme.name.toLowerCase() === "authorization"
}

function isSamePlace(
  scheme: { readonly in: string; readonly name: string },
  credential: { readonly headerName?: string | undefined; readonly in?: string | undefined },
): boolean {
  const { headerName, in: place } = credential
  if (place !== undefined && place !== scheme.in) return false
  return headerName === undefined || headerName.toLowerCase() === scheme.name.toLowerCase()
}

/** Collects the additions of credentials to a request. */
export class CredentialWriter {
  readonly #context: AuthContext
  readonly #headers = new Map<string, string>()
  readonly #query: Array<readonly [string, string]> = []
  readonly #cookies: Array<readonly [string, string]> = []
  readonly #secrets = new Set<string>()
  readonly #fetched: Array<readonly [TokenRequest, string]> = []

  constructor(context: AuthContext) {
    this.#context = context
  }

  /** Adds a credential as its scheme requires. */
  async add(
    scheme: SecurityScheme,
    credential: Credential | Secret,
    scopes: readonly string[],
  ): Promise<void> {
    const bare = asBare(credential)
    switch (scheme.type) {
      case "apiKey": {
        if (bare === undefined) return await this.addOwn(credential, scopes)
        // A key in `Authorization` usually means a bearer token.
        const isBearerKey = typeof credential === "object" && credential.type === "bearer"
        const prefix = bare.prefix ?? (isBearerKey && isAuthorization(scheme) ? "Bearer " : "")
        return this.#put(scheme.in, scheme.name, prefixed(prefix, await this.#read(bare.token)))
      }
      case "http":
        if (isBasic(scheme) && bare !== undefined && typeof credential !== "object") {
          return await this.addOwn({ type: "basic", token: bare.token }, scopes)
        }
        if (isBasic(scheme) || bare === undefined) return await this.addOwn(credential, scopes)
        return this.#authorize(writeHttp(scheme.scheme, bare.prefix, await this.#read(bare.token)))
      case "oauth2": {
        const from = typeof credential === "object" ? credential : undefined
        if (from?.type !== "clientCredentials") return await this.addOwn(credential, scopes)
        return await this.#addFetched(from, scopes, scheme.tokenUrl)
      }
      case "openIdConnect":
      case "unknown":
        return await this.addOwn(credential, scopes)
      case "mutualTLS":
        return
    }
  }

  /** Adds a credential in its own way: without a scheme, or with one that does not fit. */
  async addOwn(credential: Credential | Secret, scopes: readonly string[]): Promise<void> {
    if (typeof credential !== "object") {
      return this.#authorize(prefixed("Bearer ", await this.#read(credential)))
    }
    switch (credential.type) {
      case "bearer":
        return this.#authorize(
          prefixed(credential.prefix ?? "Bearer ", await this.#read(credential.token)),
        )
      case "apiKey": {
        const value = prefixed(credential.prefix ?? "", await this.#read(credential.token))
        return this.#put(credential.in ?? "header", credential.headerName ?? "X-API-Key", value)
      }
      case "basic":
        return this.#authorize(`Basic ${await this.#basic(credential)}`)
      case "clientCredentials":
        return await this.#addFetched(credential, scopes, undefined)
    }
  }

  result(): SelectedAuth {
    const { tokens } = this.#context
    return {
      applied: {
        headers: Object.fromEntries(this.#headers),
        query: this.#query,
        cookies: this.#cookies,
      },
      secrets: [...this.#secrets],
      forget: () => {
        for (const [request, token] of this.#fetched) tokens?.forget(request, token)
      },
    }
  }

  async #read(secret: Secret | undefined, what = "the credential"): Promise<string> {
    const value = await readSecret(secret, what, this.#context)
    if (value === "") throw unauthenticated("it is empty", what, this.#context)
    this.#secrets.add(value)
    return value
  }

  async #basic(credential: Extract<Credential, { type: "basic" }>): Promise<string> {
    let pair: string
    if (credential.token !== undefined) {
      const token = (await this.#read(credential.token)).replace(/^basic +/i, "")
      // Many APIs accept a key as the user name, without a password.
      pair = token.includes(":") ? token : (decodedPair(token) ?? `${token}:`)
      const password = pair.slice(pair.indexOf(":") + 1)
      if (password !== "") this.#secrets.add(password)
    } else {
      const user = await readSecret(credential.username ?? "", "the user name", this.#context)
      const password = await readSecret(credential.password ?? "", "the password", this.#context)
      if (user === "" && password === "") {
        throw unauthenticated(`give "username" and "password"`, "the credential", this.#context)
      }
      if (user.includes(":")) {
        throw this.#invalid(`The user name for basic authentication has a colon in it`)
      }
      // Without a password, the user name is the key.
      this.#secrets.add(password === "" ? user : password)
      pair = `${user}:${password}`
    }
    checkValue(pair, "the credential", "query", this.#context)
    const encoded = toBase64(new TextEncoder().encode(pair))
    this.#secrets.add(encoded)
    return encoded
  }

  async #addFetched(
    credential: Extract<Credential, { type: "clientCredentials" }>,
    scopes: readonly string[],
    declaredUrl: string | undefined,
  ): Promise<void> {
    const { tokens, signal = new AbortController().signal } = this.#context
    if (tokens === undefined)
      throw this.#invalid("There is no token provider to fetch an access token with")
    const request = tokenRequest(
      credential,
      {
        clientId: await readSecret(credential.clientId, "the client id", this.#context),
        clientSecret: await this.#read(credential.clientSecret, "the client secret"),
      },
      scopes,
      declaredUrl,
      this.#context,
    )
    const token = await tokens.token(request, signal)
    this.#secrets.add(token)
    this.#fetched.push([request, token])
    this.#authorize(`Bearer ${token}`)
  }

  #authorize(value: string): void {
    this.#put("header", "authorization", value)
  }

  #put(place: Place, name: string, value: string): void {
    checkValue(value, "the credential", place, this.#context)
    const isBad = place === "query" ? name === "" : !TOKEN.test(name)
    if (isBad || (place === "header" && RESERVED.test(name))) {
      throw this.#invalid(`A credential cannot go into the ${place} ${JSON.stringify(name)}`)
    }
    if (place === "query") this.#query.push([name, value])
    else if (place === "cookie") this.#cookies.push([name, value])
    else {
      const key = name.toLowerCase()
      const before = this.#headers.get(key)
      // Two schemes that share a header become two values of it, as with `Headers.append`.
      const isNew = before === undefined || before === value
      this.#headers.set(key, isNew ? value : `${before}, ${value}`)
    }
  }

  #invalid(issue: string): CallError {
    const { operationId } = this.#context
    return new CallError("VALIDATION_ERROR", `${issue} (operation "${operationId}").`, {
      operationId,
    })
  }
}

/** The token and prefix of a simple credential; the scheme says where it goes. */
function asBare(
  credential: Credential | Secret,
): { readonly token: Secret | undefined; readonly prefix?: string | undefined } | undefined {
  if (typeof credential !== "object") return { token: credential }
  return credential.type === "bearer" || credential.type === "apiKey" ? credential : undefined
}

/** Decodes a base64 `user:password`; `undefined` when the text is not one. */
function decodedPair(token: string): string | undefined {
  const bytes = fromBase64(token)
  if (bytes === undefined) return undefined
  try {
    const pair = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return /^[^:\p{Cc}]*:\P{Cc}*$/u.test(pair) ? pair : undefined
  } catch {
    return undefined
  }
}

// Credentials with parameters, such as signatures, are passed whole: `HMAC key="…", hash="…"`.
function writeHttp(scheme: string, prefix: string | undefined, token: string): string {
  const word = isBearer({ scheme }) ? "Bearer " : `${scheme} `
  if (prefix === undefined && !isBearer({ scheme }) && token.includes(" ")) return token
  return prefixed(prefix ?? word, token)
}

// Users paste tokens together with their prefix.
function prefixed(prefix: string, token: string): string {
  const word = prefix.trim().toLowerCase()
  return word !== "" && token.toLowerCase().startsWith(`${word} `) ? token : prefix + token
}

/** The credentials of one request. */
export interface SelectedAuth {
  readonly applied: AppliedAuth
  /** Values that must not appear in a response, an error or a log. */
  readonly secrets: string[]
  /** Drops fetched tokens that the server refused. */
  readonly forget: () => void
}
