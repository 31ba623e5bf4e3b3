import { isCallError } from "../../core/errors.ts"
import { toBase64 } from "../../internal/base64.ts"
import { plainHeaders, type HeadersLike } from "../../internal/headers.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Connect, ConnectFailure } from "./socket-transport.ts"
import { SUBPROTOCOL, TOKEN_PREFIX } from "./subprotocols.ts"
import { endSocket, OPEN } from "./ws.ts"
import type { WebSocketConstructor, WebSocketLike, WsModule } from "./ws.ts"

/** A value, or a function that returns a new one for each connection. */
export type PerConnection<TValue> = TValue | (() => TValue | Promise<TValue>)

/** Options of one connection attempt. */
export interface DialOptions {
  readonly headers?: PerConnection<HeadersLike> | undefined
  readonly protocols?: PerConnection<readonly string[]> | undefined
  readonly token?: PerConnection<string> | undefined
  readonly WebSocket?: WebSocketConstructor | undefined
  readonly maxFrameBytes: number
  readonly connectTimeout: number
  readonly blockPrivate?: boolean | undefined
  readonly clock: Clock
}

/** Returns a function that opens sockets to a URL. */
export function dialer(url: string, options: DialOptions): Connect {
  return (opened, failed) => {
    const attempt = beginAttempt(options, opened, failed)
    makeSocket(url, options)
      .then((socket) => attempt.watch(socket))
      .catch((error: unknown) => attempt.fail({ reason: reasonFor(error), cause: error }))
    return attempt.giveUp
  }
}

/** Returns a function that waits until an existing socket is open. */
export function awaitSocket(socket: WebSocketLike, options: DialOptions): Connect {
  return (opened, failed) => {
    const attempt = beginAttempt(options, opened, failed)
    attempt.watch(socket)
    return attempt.giveUp
  }
}

// No return type: it is used only here.
function beginAttempt(
  { clock, connectTimeout }: DialOptions,
  opened: (socket: WebSocketLike) => void,
  failed: (failure: ConnectFailure) => void,
) {
  let watched: WebSocketLike | undefined
  let isOver = false

  const end = (): boolean => {
    if (isOver) return false
    isOver = true
    clock.clearTimeout(timer)
    watched?.removeEventListener("open", onOpen)
    watched?.removeEventListener("close", onClose)
    return true
  }

  const fail = (failure: ConnectFailure): void => {
    if (!end()) return
    if (watched !== undefined && watched.readyState <= OPEN) endSocket(watched)
    failed(failure)
  }

  // Frames may follow at once, so that the owner has to add its listeners before this returns.
  const onOpen = (): void => {
    if (watched === undefined || !end()) return
    watched.removeEventListener("error", onError)
    opened(watched)
  }

  const onClose = (event: unknown): void => {
    const { code } = event as CloseEvent
    fail({ reason: `it was closed before it was open (code ${code})` })
  }

  // Stays on a socket that is given up: a socket of `ws` may still emit an error, which has no other listener.
  const onError = (event: unknown): void => {
    const { error } = event as Partial<ErrorEvent>
    const cause = error === undefined ? {} : { cause: error as unknown }
    fail({ reason: reasonFor(error), status: statusOf(error), ...cause })
  }

  const late = (): void => fail({ reason: `it was not open within ${connectTimeout} ms` })
  const timer = clock.setTimeout(late, connectTimeout)
  return {
    fail,
    giveUp: (): void => {
      if (end() && watched !== undefined) endSocket(watched)
    },
    watch(socket: WebSocketLike): void {
      watched = socket
      if (socket.readyState === OPEN) return onOpen()
      if (socket.readyState > OPEN) return fail({ reason: "it was closed before it was used" })
      socket.addEventListener("open", onOpen)
      socket.addEventListener("close", onClose)
      socket.addEventListener("error", onError)
      // Given up meanwhile.
      if (isOver) endSocket(socket)
    },
  }
}

async function makeSocket(url: string, options: DialOptions): Promise<WebSocketLike> {
  const guard = options.blockPrivate === true ? await loadGuard() : undefined
  guard?.assertPublic(new URL(url).hostname)
  const headers = await read(options.headers)
  const token = await read(options.token)
  const protocols = [...((await read(options.protocols)) ?? [])]
  const Constructor = options.WebSocket ?? (await platformSocket())
  if (Constructor === undefined) {
    const ws = await loadPackage()
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return new ws.WebSocket(url, protocols, {
      headers: { ...plainHeaders(headers ?? {}), ...authorization },
      maxPayload: options.maxFrameBytes,
      perMessageDeflate: false,
      ...(guard !== undefined && { lookup: await guard.publicLookup() }),
    })
  }
  if (headers !== undefined) {
    throw new TypeError(`"headers" need "ws"; use "token", which works everywhere`)
  }
  if (token !== undefined) {
    if (protocols.length === 0) protocols.push(SUBPROTOCOL)
    protocols.push(TOKEN_PREFIX + base64url(token))
  }
  return new Constructor(url, protocols)
}

async function loadPackage(): Promise<WsModule> {
  const { loadWs } = await import("./ws-package.ts")
  return await loadWs("transport/websocket")
}

// Loaded on use: pages, whose platform resolves names itself, need not download it.
// No return type: it is the type of the module.
function loadGuard() {
  return import("../../http-client/public-lookup.ts")
}

function read<TValue>(
  value: PerConnection<TValue> | undefined,
): TValue | Promise<TValue> | undefined {
  return typeof value === "function" ? (value as () => TValue | Promise<TValue>)() : value
}

/** The platform's own socket, in browsers and where `ws` is not installed. */
async function platformSocket(): Promise<WebSocketConstructor | undefined> {
  const own = globalThis.WebSocket as WebSocketConstructor | undefined
  if (own === undefined || "window" in globalThis || "WorkerGlobalScope" in globalThis) return own
  // On other platforms `ws` is better: it can ping, and send headers.
  return await loadPackage().then(
    () => undefined,
    () => own,
  )
}

/** Subprotocols are HTTP tokens, which exclude some characters of base64. */
function base64url(text: string): string {
  return toBase64(new TextEncoder().encode(text))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

/** Why a connection failed, without secrets of a URL or header. */
function reasonFor(error: unknown): string {
  if (isCallError(error)) return error.message
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  const status = statusOf(error)
  if (status !== undefined) return `the server answered ${status}`
  const reason = [code, message].find((text) => typeof text === "string" && text !== "")
  return (reason as string | undefined) ?? "it could not be opened"
}

/** The HTTP status of a refused upgrade, which `ws` reports only in its message. */
function statusOf(error: unknown): number | undefined {
  const message = String((error as Partial<Error> | undefined)?.message)
  const status = /^Unexpected server response: (\d{3})$/.exec(message)?.[1]
  return status === undefined ? undefined : Number(status)
}
