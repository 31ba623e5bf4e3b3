import { describe, expect, test } from "vitest"
import { versionWarning } from "../../../src/transport/nats/servers.ts"
import { isUp, keepingLogger, openBus } from "./recorder.ts"
import { startScripted } from "./scripted-server.ts"

describe("the version of a NATS server", () => {
  test.each([
    ["2.9.10", true],
    ["2.11.15", true],
    ["2.11.16", false],
    ["2.12.6", true],
    ["2.12.7", false],
    ["2.13.9", true],
    ["2.14.0", false],
    ["3.0.0-beta.1", false],
    ["1.4.1", true],
  ])("%s is warned of: %s", async (version, isOld) => {
    await using server = await startScripted({ info: { version } })
    const logger = keepingLogger()
    await using both = openBus(server.url, { logger })
    await isUp(both)
    const warning = expect.stringMatching(
      new RegExp(`^warn: The NATS server is version ${version},.*Install 2\\.11\\.16, 2\\.12\\.7`),
    )
    expect(logger.lines).toEqual(isOld ? [warning] : [])
  })

  test("is warned of once, however often it connects", async () => {
    await using server = await startScripted({ info: { version: "2.9.10" } })
    const logger = keepingLogger()
    await using both = openBus(server.url, { logger })
    await isUp(both)
    server.say("-ERR 'User Authentication Expired'")
    await expect.poll(() => both.recorder.states).toEqual(["up", "down", "up"])
    expect(logger.lines.filter((line) => line.includes("2.9.10"))).toHaveLength(1)
  })

  test("that is malformed is ignored", () => {
    expect(versionWarning("unknown")).toBeUndefined()
  })
})
