import { describe, expect, test } from "vitest"
import { Closable } from "../../src/internal/closable.ts"
import { deferred } from "../../src/internal/wait.ts"

class Door extends Closable {
  readonly ended = deferred()
  ends = 0

  get isShutting(): boolean {
    return this.isClosing
  }

  protected async end(): Promise<void> {
    this.ends++
    await this.ended.promise
  }
}

describe("Closable", () => {
  test("ends once, and every close waits for that end", async () => {
    const door = new Door()
    expect(door.isShutting).toBe(false)
    const closing = door.close()

    expect(door.isShutting).toBe(true)
    expect(door.close()).toBe(closing)
    door.ended.resolve()
    await closing
    await door.close()
    expect(door.ends).toBe(1)
  })

  test("is closed at the end of its block", async () => {
    const door = new Door()
    door.ended.resolve()
    {
      await using used = door
      expect(used.ends).toBe(0)
    }
    expect(door.ends).toBe(1)
  })
})
