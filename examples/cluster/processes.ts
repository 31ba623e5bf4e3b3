import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A worker in its own process. */
export interface WorkerProcess {
  readonly name: string
  /** Kills it, as in a crash. */
  crash(): Promise<void>
  /** Lets it finish its running calls. */
  stop(): Promise<void>
}

/** Starts a worker; resolves when it accepts calls. */
export async function startWorker(
  name: string,
  url: string,
  journal: string,
): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), {
    env: { ...process.env, NATS_URL: url, WORKER: name, JOURNAL: journal },
  })
  const kill = (): void => void child.kill("SIGKILL")
  process.once("exit", kill)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.off("exit", kill)
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }
  await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => {
      throw new Error(`Worker "${name}" did not start.`)
    }),
  ])
  return { name, crash: () => end("SIGKILL"), stop: () => end("SIGTERM") }
}
