import { isCallError } from "../../core/errors.ts"
import { toBase64 } from "../../internal/base64.ts"
import { plainHeaders, type HeadersLike } from "../../internal/headers.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Connect, ConnectFailure } from "./socket-transport.ts"
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
  readonly blockPrivate: boolean
  readonly clock: Clock
}

/** The subprotocol that clients offer in addition to a token, for the server to select. */
export const SUBPROTOCOL = "alkdev.operations"
/** The prefix of the subprotocol that carries a token where headers cannot be set. */
export const TOKEN_PREFIX = "alkdev.bearer."

/** Returns a function that opens sockets to a URL. */
export function dialer(url: string, options: DialOptions): Connect {
  return (opened, failed) => {
    const attempt = new Attempt(options, opened, failed)
    void attempt.start(() => makeSocket(url, options))
    return () => attempt.giveUp()
  }
}

/** Returns a function that waits until an existing socket is open. */
export function awaitSocket(socket: WebSocketLike, options: DialOptions): Connect {
  return (opened, failed) => {
    if (socket.readyState === OPEN) {
      opened(socket)
      return () => {}
    }
    const attempt = new Attempt(options, opened, failed)
    attempt.watch(socket)
    return () => attempt.giveUp()
  }
}

class Attempt {
  readonly #clock: Clock
  readonly #opened: (socket: WebSocketLike) => void
  readonly #failed: (failure: ConnectFailure) => void
  readonly #timer: unknown
  #socket: WebSocketLike | undefined
  #isOver = false

  constructor(
    { clock, connectTimeout }: DialOptions,
    opened: (socket: WebSocketLike) => void,
    failed: (failure: ConnectFailure) => void,
  ) {
    this.#clock = clock
    this.#opened = opened
    this.#failed = failed
    this.#timer = clock.setTimeout(
      () => this.#fail({ reason: `it was not open within ${connectTimeout} ms` }),
      connectTimeout,
    )
  }

  async start(make: () => Promise<WebSocketLike>): Promise<void> {
    try {
      const socket = await make()
      this.watch(socket)
      // Given up meanwhile.
      if (this.#isOver) endSocket(socket)
    } catch (error) {
      this.#fail({ reason: reasonFor(error), cause: error })
    }
  }

  watch(socket: WebSocketLike): void {
    this.#socket = socket
    if (socket.readyState > OPEN) return this.#fail({ reason: "it was closed before it was used" })
    socket.addEventListener("open", this.#onOpen)
    socket.addEventListener("close", this.#onClose)
    socket.addEventListener("error", this.#onError)
  }

  giveUp(): void {
    if (this.#end() && this.#socket !== undefined) endSocket(this.#socket)
  }

  // Frames may follow at once, so that the owner has to add its listeners before this returns.
  readonly #onOpen = (): void => {
    const socket = this.#socket
    if (socket === undefined || !this.#end()) return
    socket.removeEventListener("error", this.#onError)
    this.#opened(socket)
  }

  readonly #onClose = (event: unknown): void => {
    const { code } = event as CloseEvent
    this.#fail({ reason: `it was closed before it was open (code ${code})` })
  }

  // Stays on a socket that is given up: a socket of `ws` may still emit an error, which has no other listener.
  readonly #onError = (event: unknown): void => {
    const { error } = event as Partial<ErrorEvent>
    this.#fail({
      reason: reasonFor(error),
      status: statusOf(error),
      ...(error === undefined ? {} : { cause: error }),
    })
  }

  #fail(failure: ConnectFailure): void {
    if (!this.#end()) return
    if (this.#socket !== undefined && this.#socket.readyState <= OPEN) endSocket(this.#socket)
    this.#failed(failure)
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#clock.clearTimeout(this.#timer)
    this.#socket?.removeEventListener("open", this.#onOpen)
    this.#socket?.removeEventListener("close", this.#onClose)
    return true
  }
}

async function makeSocket(url: string, options: DialOptions): Promise<WebSocketLike> {
  const guard = options.blockPrivate ? await loadGuard() : undefined
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
