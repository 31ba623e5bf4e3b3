import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"

/** The memory of a process, after collections. */
export interface Weight {
  readonly heap: number
  readonly resident: number
}

/** A process that answers one question at a time. */
export class AskedChild<TQuestion extends string | object> {
  readonly #process: ChildProcess

  constructor(file: string, ...args: readonly string[]) {
    this.#process = fork(file, args, {
      execArgv: ["--expose-gc", "--import", "tsx"],
    })
  }

  async ask<TAnswer>(question: TQuestion): Promise<TAnswer> {
    const answer = this.listen<TAnswer>()
    this.#process.send(question)
    return await answer
  }

  listen<TAnswer>(): Promise<TAnswer> {
    const child = this.#process
    return new Promise((resolve, reject) => {
      const fail = (code: number | null): void =>
        reject(new Error(`A process of the benchmark ended with ${code}.`))
      child.once("exit", fail)
      child.once("message", (answer) => {
        child.off("exit", fail)
        resolve(answer as TAnswer)
      })
    })
  }

  end(): void {
    this.#process.kill("SIGKILL")
  }
}

/** CPU nanoseconds of this process so far. */
export function cpuSoFar(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** The memory of this process. */
export function weigh(): Weight {
  const { gc } = globalThis
  if (gc === undefined) throw new TypeError("Run it with --expose-gc: node --expose-gc …")
  for (let round = 0; round < 4; round++) gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}
