import { describe, expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { sourceOptions } from "../../../src/cli/shared-options.ts"
import { hubAddress } from "../../../src/cli/target/hub-address.ts"
import { testIO } from "../support/run.ts"

function address(
  argv: readonly string[],
  env: Record<string, string> = {},
): ReturnType<typeof hubAddress> {
  return hubAddress(readArgs(argv, sourceOptions), testIO({ env }))
}

describe("hubAddress", () => {
  test.each([
    ["http://127.0.0.1:3000/", "http://127.0.0.1:3000"],
    ["localhost:3000", "http://localhost:3000"],
    ["127.0.0.1:8080/base/", "http://127.0.0.1:8080/base"],
    ["[::1]:3000", "http://[::1]:3000"],
    ["tools.example.com", "https://tools.example.com"],
    ["https://tools.example.com/hub//?x=1#y", "https://tools.example.com/hub"],
  ])("%s is %s", (given, url) => {
    expect(address(["--hub", given])).toEqual({ url, token: undefined })
  })

  test("is undefined without a hub", () => {
    expect(address([])).toBeUndefined()
    expect(address([], { OPERATIONS_HUB: " ", OPERATIONS_TOKEN: "x" })).toBeUndefined()
  })

  test("variables count where the command line says nothing else", () => {
    const env = { OPERATIONS_HUB: "localhost:1", OPERATIONS_TOKEN: "from-env\n" }

    expect(address([], env)).toEqual({ url: "http://localhost:1", token: "from-env" })
    expect(address(["--hub=localhost:2", "--token=own"], env)).toEqual({
      url: "http://localhost:2",
      token: "own",
    })
    expect(address(["--config", "x.json"], env)).toBeUndefined()
    expect(address(["--openapi", "x.json"], env)).toBeUndefined()
  })

  test.each([
    [["--hub", "http://"], "such as http://127.0.0.1:3000"],
    [["--hub", "ftp://x"], "--hub takes the address of a hub"],
    [["--hub", ""], "--hub takes the address"],
    [["--hub", "localhost:1", "--scan", "."], "--hub and --scan exclude each other"],
    [["--token", "x"], "--token is for a hub"],
  ])("refuses %j", (argv, message) => {
    expect(() => address(argv)).toThrow(message)
  })

  test.each(["http://tools.example.com", "http://10.0.0.1:3000", "http://127.0.0.1.example.com"])(
    "sends no token to %s, where anyone on the way could read it",
    (hub) => {
      const refused = `The token is not sent to ${hub}, because anyone on the way could read it.`
      expect(() => address(["--hub", hub, "--token", "canary"])).toThrow(refused)
      expect(() => address([], { OPERATIONS_HUB: hub, OPERATIONS_TOKEN: "canary" })).toThrow(
        refused,
      )
      expect(address(["--hub", hub])).toEqual({ url: hub, token: undefined })
      const said = ["--hub", hub, "--token", "t", "--insecure"]
      expect(address(said)).toEqual({ url: hub, token: "t" })
    },
  )

  test("shows no credential in what it refuses", () => {
    for (const argv of [
      ["--hub", "https://canary:canary@example.com"],
      ["--hub", "localhost:1", "--token", "canary canary"],
      ["--hub", "localhost:1", "--token", "canary\r\nx: y"],
    ]) {
      expect(() => address(argv)).toThrow(/^(?!.*canary)/s)
    }
  })
})
