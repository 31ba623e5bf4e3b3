import { ENVELOPE, type JsonObject } from "../../../mcp/model.ts"
import { withTimeout } from "../../../internal/wait.ts"
import { MAX_TIMER_DELAY } from "../../../internal/clock.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { CallError } from "../../../core/errors.ts"
import type { ResolvedServer } from "../config.ts"
import { mcpError, type MCPErrorAbout } from "../../../mcp/errors.ts"
import { RunningRequest, type SessionRequest } from "./running-request.ts"
import {
  RequestFailure,
  findCallError,
  connectionClosedError,
  invalidMessageError,
  isUnreadableMessage,
} from "./running-request.ts"
import { FramedTransport } from "./framed-transport.ts"
import { paramHeaders } from "./header-params.ts"
import { clientCapabilities } from "./capabilities.ts"
import { answerQuestions, onlyOf } from "./input.ts"
import { LogLines, type MCPLogReader } from "./log-lines.ts"
import { issuerOf } from "./issuer.ts"
import { lastLines, type Secrets } from "./mask.ts"
import type { MCPPeer } from "./model.ts"
import type { ClientLike, SdkModule, TransportLike } from "./sdk.ts"
import type { ChildTransport } from "./stdio/transport.ts"

/** Dependencies and listeners of a session. */
export interface SessionHost {
  readonly sdk: SdkModule
  readonly server: ResolvedServer
  readonly secrets: Secrets
  readonly log?: MCPLogReader | undefined
  /** All calls on the session are of one caller. */
  readonly isOfOneCaller?: boolean | undefined
  notified(session: Session, method: string, params: unknown): void
  lost(session: Session, error: CallError): void
}

// Milliseconds that ending the session of an HTTP server may take.
const DELETE_MS = 1000

/** One process, or one session over HTTP, from its start to its end. */
export class Session {
  readonly client: ClientLike
  readonly frames: FramedTransport
  isLost = false
  readonly #transport: TransportLike
  readonly #host: SessionHost
  readonly #log: LogLines
  // Above the ids of the SDK's client.
  #lastId = 1000
  #isClosing = false
  #isRetired = false
  #breakage: unknown
  #peer: MCPPeer | undefined
  /** Sent in `_meta` of each request in the modern era, which has no session. */
  #envelope: JsonObject | undefined

  constructor(transport: TransportLike, negotiation: object, host: SessionHost) {
    const { server, sdk } = host
    this.#host = host
    this.#transport = transport
    this.#log = new LogLines(host.log, host.secrets)
    this.frames = new FramedTransport(transport, sdk, {
      notified: (method, params) => {
        if (method === "notifications/message") this.#log.received(params, onlyOf(this.#calls()))
        else host.notified(this, method, params)
      },
      closed: () => this.#lose(),
      erred: (error) => this.#note(error),
      dropped: (why) => server.logger.debug(`MCP server "${server.name}" sent ${why}`),
    })
    const capabilities = clientCapabilities(server)
    this.client = new sdk.Client(server.clientInfo, {
      capabilities,
      versionNegotiation: negotiation,
    })
    answerQuestions(this.client, capabilities, server, this.#log, {
      all: () => this.#calls(),
      isOfOneCaller: host.isOfOneCaller === true,
    })
  }

  /** The server; throws before the session was connected. */
  get peer(): MCPPeer {
    if (this.#peer === undefined) throw new TypeError("The session was never connected.")
    return this.#peer
  }

  get child(): ChildTransport | undefined {
    return "stderrTail" in this.#transport ? (this.#transport as ChildTransport) : undefined
  }

  /** The session id of an HTTP server. */
  get id(): string | undefined {
    return this.#transport.sessionId
  }

  /** The server may keep state for this session; a server of the modern era over HTTP has none. */
  get isStateful(): boolean {
    const isStreamable = this.#transport.terminateSession !== undefined
    return this.#host.server.channel.kind !== "http" || !isStreamable || this.id !== undefined
  }

  get isBusy(): boolean {
    return this.frames.pending.size > 0
  }

  /** The last output of a process to stderr. */
  get stderrTail(): string | undefined {
    const tail = this.child?.stderrTail()
    return tail === undefined ? undefined : this.#host.secrets.text(lastLines(tail))
  }

  async connect(timeout: number, signal: AbortSignal): Promise<void> {
    const { client } = this
    await client.connect(this.frames, { timeout: Math.min(timeout, MAX_TIMER_DELAY), signal })
    this.#peer = {
      era: client.getProtocolEra() ?? "legacy",
      protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities() ?? {},
      instructions: client.getInstructions(),
    }
    if (this.#peer.era !== "modern") return
    const { server } = this.#host
    this.#envelope = {
      [ENVELOPE.protocolVersion]: this.#peer.protocolVersion,
      [ENVELOPE.clientInfo]: server.clientInfo,
      [ENVELOPE.clientCapabilities]: clientCapabilities(server),
    }
  }

  /** Sends one request and returns its raw result. */
  async request(request: SessionRequest): Promise<JsonObject> {
    const { timeout } = request
    const level = this.#log.levelToSet(request.client, this.peer)
    if (level !== undefined) {
      const asked = {
        method: "logging/setLevel",
        params: { level },
        phase: "list",
        timeout,
      } as const
      // Without it, the call works all the same.
      await this.request(asked).catch(() => undefined)
    }
    const running = new RunningRequest(++this.#lastId, request, (error) => {
      this.#host.server.logger.warn("A listener for progress threw", { error })
    })
    const forget = timeout.onEnd(() => {
      this.#giveUp(running)
      running.failed(timeout.error(running.isSent))
    })
    timeout.resume()
    try {
      this.#send(running).catch((error: unknown) => {
        this.frames.pending.delete(running.id)
        running.failed(error)
      })
      const raw = await running.result
      if (isRecord(raw)) return raw
      throw invalidMessageError("the result is not a JSON object")
    } catch (thrown) {
      if (timeout.isOver) throw timeout.error(running.isSent)
      this.#giveUp(running)
      throw new RequestFailure(thrown, this.errorOf(thrown, request, running), running)
    } finally {
      forget()
      timeout.pause()
      this.frames.pending.delete(running.id)
      if (this.#isRetired && this.frames.pending.size === 0) void this.close()
    }
  }

  /** Converts an exception to an error, with the state of the process. */
  errorOf(
    thrown: unknown,
    { phase, tool }: Pick<SessionRequest, "phase" | "tool">,
    running?: RunningRequest,
  ): CallError {
    const { server, secrets } = this.#host
    const { child } = this
    const isUnsent = running !== undefined && !running.isSent
    const failure = child?.failure ?? findCallError(thrown)
    // The exit of a process is more informative than the error of a pipe to it.
    if (failure !== undefined && (child?.exit === undefined || child.failure !== undefined)) {
      return secrets.error(failure)
    }
    const about: MCPErrorAbout = {
      server: server.name,
      issuer: issuerOf(server),
      tool,
      phase,
      isUnsent,
      exit: child?.exit,
      stderrTail: child?.exit === undefined && phase !== "connect" ? undefined : this.stderrTail,
      retryAfterMs: running?.retryAfterMs,
    }
    // The SDK's message about an unreadable message can be several pages long.
    const read = isUnreadableMessage(thrown) && phase !== "connect" ? invalidMessageError() : thrown
    return secrets.error(
      mcpError(child?.exit === undefined ? read : connectionClosedError(thrown), about),
    )
  }

  /** The response stream is broken: fails all pending requests and closes the session. */
  breakOff(why: unknown): void {
    if (this.isLost || this.#isClosing) return
    this.#breakage = why
    this.#lose()
    void this.close()
  }

  /** Closes the session when its last request has ended. */
  retire(): void {
    this.#isRetired = true
    if (this.frames.pending.size === 0) void this.close()
  }

  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      await this.#terminate()
    }
    // The transport first: the client forgets it on close.
    await this.#transport.close().catch(() => {})
    await this.client.close().catch(() => {})
    this.#lose()
  }

  /** Ends the session of an HTTP server; waits at most a second. */
  async #terminate(): Promise<void> {
    if (this.#isRetired || this.id === undefined) return
    const terminated = this.#transport.terminateSession?.().catch(() => {})
    if (terminated !== undefined) await withTimeout(terminated, DELETE_MS, () => undefined)
  }

  /** Cancels a request at the server; with one stream per request, by closing the stream. */
  #giveUp(running: RunningRequest): void {
    const isPending = this.frames.pending.delete(running.id)
    running.giveUp()
    if (!isPending || this.isLost) return
    if (this.peer.era === "modern" && this.frames.hasPerRequestStream === true) return
    const params = { requestId: running.id, reason: "The caller no longer waits for the answer." }
    // The caller already has its error.
    this.client.notification({ method: "notifications/cancelled", params }).catch(() => {})
  }

  async #send(running: RunningRequest): Promise<void> {
    if (this.isLost) throw connectionClosedError()
    const { params, client, definition } = running.request
    const own = params["_meta"] as object | undefined
    const _meta = {
      ...this.#envelope,
      ...own,
      ...(this.peer.era === "modern" && this.#log.wishes(client, this.#host.server)),
      progressToken: running.id,
    }
    await this.frames.request(running, { ...params, _meta }, () =>
      this.peer.era === "modern" ? paramHeaders(definition, params["arguments"]) : {},
    )
  }

  /** The running requests of callers. */
  #calls(): readonly SessionRequest[] {
    const all = Array.from(this.frames.pending.values(), ({ request }) => request)
    return all.filter(({ phase }) => phase !== "list")
  }

  #note(error: Error): void {
    // Only the SSE transport reports events of its single stream; all responses are lost with it.
    if (this.#peer !== undefined && "event" in error) this.breakOff(connectionClosedError(error))
    if (isUnreadableMessage(error)) this.#garbled()
    const { server, secrets } = this.#host
    server.logger.debug(`MCP server "${server.name}": ${secrets.text(error.message)}`)
  }

  /** An unreadable message arrived: the stream of its request will end without a response. */
  #garbled(): void {
    const all = [...this.frames.pending.values()]
    for (const running of all) running.isGarbled = true
    // Without a stream per request we know whose response it was only if exactly one is pending.
    if (this.frames.hasPerRequestStream !== true && all.length === 1) all[0]?.streamEnded()
  }

  #lose(): void {
    if (this.isLost) return
    this.isLost = true
    const why = this.#breakage ?? connectionClosedError()
    for (const running of this.frames.pending.values()) {
      running.failed(this.errorOf(why, running.request, running))
    }
    if (!this.#isClosing && this.#peer !== undefined) {
      this.#host.lost(this, this.errorOf(why, { phase: "connect" }))
    }
  }
}
