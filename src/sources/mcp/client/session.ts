import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { SettledServer } from "../config.ts"
import { mcpError } from "../../../mcp/errors.ts"
import type { MCPErrorAbout } from "../../../mcp/errors.ts"
import { RunningRequest } from "./exchange.ts"
import type { SessionRequest } from "./exchange.ts"
import { RequestFailure, callErrorIn, closed, garbage, isGarbage, rpcError } from "./failure.ts"
import { FramedTransport } from "./frames.ts"
import { hasHeaders } from "./header-params.ts"
import { QUESTIONS, answerQuestion, clientCapabilities } from "./input.ts"
import type { Question } from "./input.ts"
import type { Secrets } from "./mask.ts"
import type { MCPPeer } from "./model.ts"
import { ANY_RESULT } from "./sdk.ts"
import type { ClientLike, SdkModule, TransportLike } from "./sdk.ts"
import type { ChildTransport } from "./stdio/transport.ts"

/** What a session is made of, and whom it tells. */
export interface SessionHost {
  readonly sdk: SdkModule
  readonly settled: SettledServer
  readonly secrets: Secrets
  readonly forwardsInput: boolean
  notified(session: Session, method: string): void
  lost(session: Session, error: CallError): void
}

// As long as timers can wait: how long a request may take is our own business.
const NEVER = 2_147_483_647
const DELETE_MS = 1000

/** One process, or one session over HTTP, from its start to its end. */
export class Session {
  readonly client: ClientLike
  readonly frames: FramedTransport
  readonly #transport: TransportLike
  readonly #host: SessionHost
  readonly #running = new Set<RunningRequest>()
  #tokens = 0
  #isClosing = false
  #isLost = false
  #isRetired = false
  #breakage: unknown
  #peer: MCPPeer | undefined

  constructor(
    transport: TransportLike,
    negotiation: Readonly<Record<string, unknown>>,
    host: SessionHost,
  ) {
    const { settled, sdk, forwardsInput } = host
    this.#host = host
    this.#transport = transport
    this.frames = new FramedTransport(transport, {
      notified: (method) => host.notified(this, method),
      closed: () => this.#lose(),
      erred: (error) => this.#note(error),
      dropped: (why) => settled.logger.debug(`MCP server "${settled.name}" sent ${why}`),
    })
    const capabilities = clientCapabilities(settled, forwardsInput)
    this.client = new sdk.Client(settled.clientInfo, {
      capabilities,
      versionNegotiation: negotiation,
    })
    for (const method of QUESTIONS) this.#answer(method, capabilities)
  }

  /** Who answers; only of a session that was connected. */
  get peer(): MCPPeer {
    if (this.#peer === undefined) throw new TypeError("The session was never connected.")
    return this.#peer
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get child(): ChildTransport | undefined {
    return "stderrTail" in this.#transport ? (this.#transport as ChildTransport) : undefined
  }

  /** The id of a session that a server over HTTP gave. */
  get id(): string | undefined {
    return this.#transport.sessionId
  }

  /** The end of what a process wrote to its standard error. */
  get stderrTail(): string | undefined {
    const tail = this.child?.stderrTail()
    return tail === undefined ? undefined : this.#host.secrets.text(tail)
  }

  async connect(timeout: number, signal: AbortSignal): Promise<void> {
    const { client } = this
    await client.connect(this.frames, { timeout: Math.min(timeout, NEVER), signal })
    this.#peer = {
      era: client.getProtocolEra() ?? "legacy",
      protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities() ?? {},
      instructions: client.getInstructions(),
    }
  }

  /** Sends one request and gives its result as it came. */
  async request(request: SessionRequest): Promise<Readonly<Record<string, unknown>>> {
    const { patience } = request
    const running = new RunningRequest(++this.#tokens, request, (error) => {
      this.#host.settled.logger.warn("A listener for progress threw", { error })
    })
    const forget = patience.onEnd(() => {
      this.#giveUp(running)
      running.failed(patience.error(running.isSent))
    })
    this.#running.add(running)
    this.frames.expect(running)
    patience.resume()
    try {
      this.#send(running).catch((error: unknown) => {
        // The client does not wait any more.
        this.frames.forget(running)
        running.failed(error)
      })
      const raw = await running.result
      if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) {
        return raw as Readonly<Record<string, unknown>>
      }
      throw garbage("the result is no JSON object")
    } catch (thrown) {
      if (patience.isOver) throw patience.error(running.isSent)
      this.#giveUp(running)
      throw new RequestFailure(thrown, this.errorOf(thrown, request, running), running)
    } finally {
      forget()
      patience.pause()
      this.#running.delete(running)
      this.frames.forget(running)
      if (this.#isRetired && this.#running.size === 0) void this.close()
    }
  }

  /** The error for what was thrown, with what is known about the process. */
  errorOf(
    thrown: unknown,
    { phase, tool }: Pick<SessionRequest, "phase" | "tool">,
    running?: RunningRequest,
  ): CallError {
    const { settled, secrets } = this.#host
    const { child } = this
    const isUnsent = running !== undefined && !running.isSent
    const failure = child?.failure ?? callErrorIn(thrown)
    // A process that ended tells more than what a pipe to it says.
    if (failure !== undefined && (child?.exit === undefined || child.failure !== undefined)) {
      return secrets.error(failure)
    }
    const about: MCPErrorAbout = {
      server: settled.name,
      tool,
      phase,
      isUnsent,
      exit: child?.exit,
      stderrTail: child?.exit === undefined && phase !== "connect" ? undefined : this.stderrTail,
      retryAfterMs: running?.retryAfterMs,
    }
    // What the package says about what it could not read goes on for pages.
    const read = isGarbage(thrown) && phase !== "connect" ? garbage() : thrown
    return secrets.error(mcpError(child?.exit === undefined ? read : closed(thrown), about))
  }

  /** What brings the answers does not work any more: whoever waits is told, and it is closed. */
  breakOff(why: unknown): void {
    if (this.#isLost || this.#isClosing) return
    this.#breakage = why
    this.#lose()
    void this.close()
  }

  /** Closes it when nothing runs on it any more. */
  retire(): void {
    this.#isRetired = true
    if (this.#running.size === 0) void this.close()
  }

  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      await this.#terminate()
    }
    // The transport first: the client forgets it when it is closed.
    await this.#transport.close().catch(() => {})
    await this.client.close().catch(() => {})
    this.#lose()
  }

  /** Tells a server over HTTP that its session is over, if it has a second to listen. */
  async #terminate(): Promise<void> {
    if (this.#isRetired || this.id === undefined) return
    let timer: unknown
    const enough = new Promise<void>((resolve) => {
      timer = globalThis.setTimeout(resolve, DELETE_MS)
    })
    const told = this.#transport.terminateSession?.().catch(() => {})
    await Promise.race([told, enough])
    globalThis.clearTimeout(timer as number)
  }

  /** Tells the server that nobody waits any more; with a stream for each request, by closing it. */
  #giveUp(running: RunningRequest): void {
    const requestId = this.frames.cancel(running)
    running.giveUp()
    if (requestId === undefined || this.#isLost) return
    if (this.peer.era === "modern" && this.frames.hasPerRequestStream === true) return
    const params = { requestId, reason: "Nobody waits for the answer any more." }
    // Whoever gave up has its error already.
    this.client.notification({ method: "notifications/cancelled", params }).catch(() => {})
  }

  /** Hands a request to the package's client, which is told nothing of what it may take offence at. */
  async #send({ token, request }: RunningRequest): Promise<unknown> {
    const { method, definition } = request
    const given = request.params["_meta"] as object | undefined
    const params = { ...request.params, _meta: { ...given, progressToken: token } }
    const options = { timeout: NEVER }
    // Only where parameters are sent as headers too does the client have to know the tool.
    if (method === "tools/call" && this.peer.era === "modern" && hasHeaders(definition)) {
      const toolDefinition = { ...(definition as object), outputSchema: undefined }
      return await this.client.callTool(params, { ...options, toolDefinition })
    }
    return await this.client.request({ method, params }, ANY_RESULT, options)
  }

  /** Answers what the server asks on a connection; not in the modern era, where results ask. */
  #answer(method: Question, capabilities: Readonly<Record<string, unknown>>): void {
    const { settled } = this.#host
    const key = method === "elicitation/create" ? "elicitation" : method.split("/", 1)[0]
    if (key === undefined || !(key in capabilities)) return
    this.client.setRequestHandler(method, async ({ params }) => {
      const running = [...this.#running]
        .map(({ request }) => request)
        .filter(({ phase }) => phase !== "list")
      const only = running.length === 1 ? running[0] : undefined
      for (const { patience } of running) patience.pause()
      try {
        const about = { server: settled.name, tool: only?.tool }
        const answer = answerQuestion(method, params, about, settled, only?.requestInput)
        return await (only === undefined ? answer : only.patience.race(answer, true))
      } catch (error) {
        // The server is notified that the call is over. A tool that got an answer nevertheless would go on, and
        // its next question would be put to whoever calls next: nothing says which call a question belongs to.
        if (only?.patience.isOver === true) return await new Promise<never>(() => {})
        if (method !== "elicitation/create") throw rpcError(error)
        return { action: isCallError(error, "UNAVAILABLE") ? "decline" : "cancel" }
      } finally {
        for (const { patience } of running) patience.resume()
      }
    })
  }

  #note(error: Error): void {
    // Only the old transport reports events of its one stream; answers to what was asked are lost with it.
    if (this.#peer !== undefined && "event" in error) this.breakOff(closed(error))
    if (isGarbage(error)) this.#garbled()
    const { settled, secrets } = this.#host
    settled.logger.debug(`MCP server "${settled.name}": ${secrets.text(error.message)}`)
  }

  /** What came is no message: the stream of a request ends without an answer then. */
  #garbled(): void {
    for (const running of this.#running) running.garbled()
    const [only] = this.#running
    // Without such a stream it can be told whose answer it was only if nobody else waits.
    const isTold = this.frames.hasPerRequestStream === true || this.#running.size > 1
    if (!isTold) only?.streamEnded()
  }

  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    const why = this.#breakage ?? closed()
    for (const running of this.#running) {
      running.failed(this.errorOf(why, running.request, running))
    }
    if (!this.#isClosing && this.#peer !== undefined) {
      this.#host.lost(this, this.errorOf(why, { phase: "connect" }))
    }
  }
}
