import { describe, expect, test } from "vitest"
import { RespCheck } from "../../../src/transport/redis/resp-check.ts"

const text = (value: string): string => `$${Buffer.byteLength(value)}\r\n${value}\r\n`

/** What a connection that listens gets, in both forms of the protocol. */
const LISTENING = [
  `%2\r\n${text("server")}${text("redis")}${text("modules")}*0\r\n`,
  `*4\r\n${text("server")}${text("redis")}${text("modules")}*1\r\n*2\r\n${text("a")}:1\r\n`,
  "+OK\r\n-NOPERM no\r\n",
  `>3\r\n${text("subscribe")}${text("inbox")}:1\r\n`,
  `*3\r\n${text("psubscribe")}${text("calls:*")}:2\r\n`,
  `>4\r\n${text("pmessage")}${text("calls:*")}${text("calls:a")}${text("é€\r\n😀 $5\r\n")}`,
  `*3\r\n${text("message")}${text("inbox")}${text("")}`,
  `>3\r\n${text("punsubscribe")}_\r\n:0\r\n`,
  `*3\r\n${text("unsubscribe")}$-1\r\n:0\r\n`,
  `*2\r\n${text("pong")}${text("")}+PONG\r\n`,
].join("")

const PUBLISHING = `:1\r\n:0\r\n+PONG\r\n*2\r\n${text("news")}:3\r\n$-1\r\n-NOPERM no\r\n*0\r\n:12\r\n`

function accepts(bytes: Buffer, isListening: boolean, size = bytes.length): boolean {
  const check = new RespCheck(isListening)
  for (let at = 0; at < bytes.length; at += size) {
    if (!check.accept(bytes.subarray(at, at + size))) return false
  }
  return true
}

describe("what a server sends", () => {
  test.each([1, 2, 3, 7, 16, 100, 10_000])("is passed on in pieces of %i bytes", (size) => {
    expect(accepts(Buffer.from(LISTENING), true, size)).toBe(true)
    expect(accepts(Buffer.from(PUBLISHING), false, size)).toBe(true)
  })

  test.each([
    ["a number where nobody asked for one", ":3\r\n"],
    ["nothing at all", "$-1\r\n"],
    ["nothing at all, in the newer form", "_\r\n"],
    ["an empty list", "*0\r\n"],
    ["a list that begins with nothing", `*2\r\n$-1\r\n${text("a")}`],
    ["a list that begins with a list", `>2\r\n*1\r\n${text("a")}${text("a")}`],
    ["a message without a text", `>3\r\n${text("message")}${text("a")}$-1\r\n`],
    ["a message that is too short", `>3\r\n${text("pmessage")}${text("a")}${text("a")}`],
    ["a message from a number", `>3\r\n${text("message")}:1\r\n${text("a")}`],
    ["a subscription without a number", `>3\r\n${text("subscribe")}${text("a")}${text("1")}`],
    ["a text that is shorter than it says", "$3\r\nab\r\n+OK\r\n"],
    ["a text that is longer than it says", "$1\r\nab\r\n"],
    ["a line that ends in the middle", "+O\rK\r\n"],
    ["a line without its first end", "+OK\n"],
    ["a length that is none", "$x\r\n"],
    ["a negative length", "$-8\r\n"],
    ["a type that there is not", "?1\r\n"],
    ["a depth that nobody needs", "*1\r\n".repeat(20)],
    ["a line without an end", `+${"x".repeat(70_000)}`],
  ])("is not passed on: %s", (_what, bytes) => {
    expect(accepts(Buffer.from(bytes), true)).toBe(false)
  })
})
