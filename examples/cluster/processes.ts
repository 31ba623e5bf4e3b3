import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A worker in a process of its own. */
export interface WorkerProcess {
  readonly name: string
  /** Ends it as a crash would. */
  crash(): Promise<void>
  /** Lets it finish what it does. */
  stop(): Promise<void>
}

/** Starts a worker; resolves once it takes calls. */
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
