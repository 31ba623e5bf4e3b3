import { EventEmitter } from "node:events"
import type {
  PipelineLike,
  PipelineResult,
  RedisLike,
} from "../../../src/transport/redis/ioredis.ts"

/** Answers to commands, by their first word; an `Error` refuses. What is not named is answered with "OK". */
export type Script = Readonly<Record<string, (...args: string[]) => unknown>>

/** A connection to a server that answers as a script says. */
export class FakeRedis implements RedisLike {
  status = "wait"
  readonly stream = { bytesRead: 0, destroy: () => undefined }
  readonly sent: string[][] = []
  readonly #script: Script
  readonly #events = new EventEmitter()

  constructor(script: Script = {}) {
    this.#script = script
  }

  on(event: string, listener: (...args: never[]) => void): void {
    // Who listens knows what comes.
    this.#events.on(event, listener as (...args: unknown[]) => void)
  }

  async connect(): Promise<void> {
    await this.#run("connect")
    this.status = "ready"
  }

  disconnect(): void {
    if (this.status === "end") return
    this.status = "end"
    process.nextTick(() => this.#events.emit("end"))
  }

  call(command: string, ...args: string[]): Promise<unknown> {
    return this.#run(command, ...args)
  }

  publish(channel: string, text: string): Promise<unknown> {
    return this.#run("publish", channel, text)
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#run("subscribe", channel)
  }

  psubscribe(...patterns: string[]): Promise<unknown> {
    return this.#run("psubscribe", ...patterns)
  }

  punsubscribe(...patterns: string[]): Promise<unknown> {
    return this.#run("punsubscribe", ...patterns)
  }

  pipeline(): PipelineLike {
    const messages: [string, string][] = []
    return {
      publish: (channel, text) => messages.push([channel, text]),
      exec: async () => {
        await this.#run("exec")
        return await Promise.all(
          messages.map(([channel, text]) =>
            this.publish(channel, text).then(
              (count): PipelineResult => [null, count],
              (error: Error): PipelineResult => [error],
            ),
          ),
        )
      },
    }
  }

  async #run(command: string, ...args: string[]): Promise<unknown> {
    this.sent.push([command, ...args])
    const answer = await this.#script[command]?.(...args)
    if (answer instanceof Error) throw answer
    this.stream.bytesRead += 7
    return answer ?? "OK"
  }
}
