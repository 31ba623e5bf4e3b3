import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { connectEnd, connectWorker, openEnd } from "./ends.ts"

const isThere = await provideRedis()
const folder = await mkdtemp(join(tmpdir(), "operations-redis-tls-"))
const hasCertificate = isThere && (await makeCertificate())

describe.skipIf(!hasCertificate)("a broker with TLS", () => {
  let broker: Broker
  let url: string
  let ca: string
  beforeAll(async () => {
    const file = (name: string): string => join(folder, name)
    ca = await readFile(file("cert.pem"), "utf8")
    // Where neither other brokers of tests nor outgoing connections are.
    const port = 32_100 + Math.floor(Math.random() * 600)
    broker = await startRedis({
      config:
        `tls-port ${port}\ntls-cert-file ${file("cert.pem")}\ntls-key-file ${file("key.pem")}\n` +
        `tls-ca-cert-file ${file("cert.pem")}\ntls-auth-clients no\nrequirepass secret`,
    })
    url = `rediss://:secret@127.0.0.1:${port}`
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  test("is reached, and stays so while nothing is said", async () => {
    const connect = { tls: { ca } }
    await using worker = await connectWorker(url, { connect })
    await using caller = await connectEnd(url, { connect })
    // Long enough that a server whose answers go unseen would be given up.
    await sleep(3000)
    caller.bus.toWorker(worker.bus.address, "demo.greet", caller.frame("request"), "m1")
    await expect.poll(() => worker.recorder.calls.length).toBe(1)
    expect(caller.recorder.story).toEqual(["connected"])
    expect(worker.recorder.story).toEqual(["connected"])
  })

  test("with an untrusted certificate is not used, and the error names the reason", async () => {
    await using end = openEnd(url)
    await expect.poll(() => end.recorder.story).toEqual(["disconnected"])
    expect(end.lines.warnings.join()).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY/)
  })

  test("without TLS at its port is not reached", async () => {
    await using end = openEnd(`rediss://:secret@127.0.0.1:${broker.port}`, { connectTimeout: 500 })
    await expect.poll(() => end.recorder.story).toEqual(["disconnected"])
    expect(end.bus.isConnected).toBe(false)
  })
})

/** A certificate for this machine; none where there is no `openssl`. */
async function makeCertificate(): Promise<boolean> {
  const args =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost " +
    "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
  try {
    await promisify(execFile)("openssl", args.split(" "), { cwd: folder })
    return true
  } catch {
    await rm(folder, { recursive: true })
    return false
  }
}
