import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { resolveTarget } from "../../../src/transport/nats/servers.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { isUp, keepingLogger, openBus, works } from "./recorder.ts"

const isThere = await provideNats()
const folder = await mkdtemp(join(tmpdir(), "operations-nats-tls-"))
const certFile = join(folder, "cert.pem")
const keyFile = join(folder, "key.pem")
const hasCertificate = isThere && (await makeCertificate())

/** A certificate for this machine, signed by itself; not where there is no openssl. */
async function makeCertificate(): Promise<boolean> {
  const names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  const files = ["-keyout", keyFile, "-out", certFile]
  const args = ["req", ...kind, ...files, "-days", "2", "-subj", "/CN=test", "-addext", names]
  try {
    await promisify(execFile)("openssl", args)
    return true
  } catch {
    await rm(folder, { recursive: true })
    return false
  }
}

describe.skipIf(!hasCertificate)("a NATS server with TLS", () => {
  let broker: Broker
  let ca: string
  beforeAll(async () => {
    ca = await readFile(certFile, "utf8")
    broker = await startNats({
      config: `tls { cert_file: "${certFile}", key_file: "${keyFile}" }
        authorization { user: ada, password: s3cret }`,
    })
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  const target = (host: string, tls: { ca: string } | undefined, scheme = "tls") =>
    resolveTarget("test", `${scheme}://ada:s3cret@${host}:${broker.port}`, { tls })

  test.each(["127.0.0.1", "localhost"])("is reached at %s, and comes back", async (host) => {
    await using both = openBus(target(host, { ca }))
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await works(both)
    await broker.restart()
    await expect.poll(() => both.recorder.states).toEqual(["up", "down", "up"])
    await works(both)
  })

  test("with an untrusted certificate is not used, and the error names the reason", async () => {
    const logger = keepingLogger()
    await using both = openBus(target("127.0.0.1", undefined), { logger })
    await expect.poll(() => both.recorder.states).toEqual(["down"])
    expect(logger.lines.join("\n")).toMatch(/unreachable at 127\.0\.0\.1:\d+: self-signed/)
    expect(logger.lines.join("\n")).not.toContain("s3cret")
  })

  test("is asked for where the address says so: one without is not used", async () => {
    await using plain = await startNats()
    const logger = keepingLogger()
    await using both = openBus(resolveTarget("test", `tls://127.0.0.1:${plain.port}`), { logger })
    await expect.poll(() => both.recorder.states).toEqual(["down"])
    expect(logger.lines.join("\n")).toContain("server does not support 'tls'")
    expect(both.bus.isConnected).toBe(false)
  })
})
