import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { describe, expect, test, vi } from "vitest"
import { provideNats, provideRedis, startNats, startRedis } from "./brokers.ts"
import { freePort } from "./free-port.ts"

const kinds = [
  { name: "NATS", start: startNats, isThere: await provideNats() },
  { name: "Redis", start: startRedis, isThere: await provideRedis() },
]

/** Whether a process is there. */
function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function connects(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1")
  const does = await once(socket, "connect").then(
    () => true,
    () => false,
  )
  socket.destroy()
  return does
}

for (const { name, start, isThere } of kinds) {
  describe.skipIf(!isThere)(`a ${name} server for tests`, () => {
    test("starts, is killed, comes back on its port, and ends", async () => {
      await using broker = await start()
      const { pid, port, url } = broker
      expect(url).toMatch(new RegExp(`^(nats|redis)://127.0.0.1:${port}$`))
      expect(await connects(port)).toBe(true)
      await broker.kill()
      expect(runs(pid)).toBe(false)
      expect(() => broker.pid).toThrow("does not run")
      expect(await connects(port)).toBe(false)
      await broker.restart()
      expect(broker.port).toBe(port)
      expect(broker.pid).not.toBe(pid)
      expect(await connects(port)).toBe(true)
      await broker.stop()
      await broker.stop()
      expect(await connects(port)).toBe(false)
    })

    test("keeps its port while it is down, and does not take another server for itself", async () => {
      await using broker = await start()
      const { port } = broker
      await broker.kill()
      // The number that would choose the same port, if it were free.
      const same = vi.spyOn(Math, "random").mockReturnValueOnce((port - 12_000 + 0.5) / 5000)
      expect(await freePort()).not.toBe(port)
      expect(same.mock.calls.length).toBeGreaterThan(1)
      same.mockRestore()
      await using _other = await start({ port })
      await expect(broker.restart()).rejects.toThrow("Another server")
    })

    test("is stopped and killed even while it is frozen", async () => {
      await using broker = await start()
      broker.freeze()
      await broker.stop()
      await broker.restart()
      broker.freeze()
      broker.thaw()
      broker.freeze()
      await broker.kill()
      expect(await connects(broker.port)).toBe(false)
    })

    test("says why it does not start", async () => {
      await expect(start({ config: "no such setting {" })).rejects.toThrow("does not start")
    })

    test("ends with the process that started it, even when that is killed", async () => {
      const brokers = fileURLToPath(new URL("brokers.ts", import.meta.url))
      const script = `import { ${start.name} } from ${JSON.stringify(brokers)}
        const { pid } = await ${start.name}()
        process.stdout.write(String(pid))
        setInterval(() => {}, 1000)`
      const args = ["--import", "tsx", "--input-type=module", "-e", script]
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
      const [data] = (await once(child.stdout, "data")) as [Buffer]
      const pid = Number(String(data))
      expect(runs(pid)).toBe(true)
      child.kill("SIGKILL")
      await expect.poll(() => runs(pid)).toBe(false)
    })
  })
}
