import { WebSocket } from "ws"

/** A WebSocket with what browsers give, and no more, over one of `ws`. */
export class BrowserSocket extends EventTarget {
  static last: BrowserSocket | undefined
  readonly inner: WebSocket
  readonly protocols: readonly string[]
  /** Set to pretend that so much waits to be sent. */
  pretended: number | undefined

  constructor(url: string, protocols: string[] = []) {
    super()
    this.protocols = protocols
    this.inner = new WebSocket(url, protocols)
    this.inner.on("open", () => this.dispatchEvent(new Event("open")))
    this.inner.on("message", (data: Buffer, isBinary) => {
      const content = isBinary ? new ArrayBuffer(0) : String(data)
      this.dispatchEvent(Object.assign(new Event("message"), { data: content }))
    })
    // Browsers do not report to pages what went wrong.
    this.inner.on("error", () => this.dispatchEvent(new Event("error")))
    this.inner.on("close", (code, reason) => {
      this.dispatchEvent(Object.assign(new Event("close"), { code, reason: String(reason) }))
    })
    BrowserSocket.last = this
  }

  get readyState(): number {
    return this.inner.readyState
  }

  get bufferedAmount(): number {
    return this.pretended ?? this.inner.bufferedAmount
  }

  send(data: string): void {
    this.inner.send(data)
  }

  close(code?: number, reason?: string): void {
    if (code !== undefined && code !== 1000 && (code < 3000 || code > 4999)) {
      throw new DOMException(`The code ${code} is not allowed.`, "InvalidAccessError")
    }
    this.inner.close(code, reason)
  }
}
