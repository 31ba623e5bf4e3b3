import { describe, expect, test } from "vitest"
import { HistoryShelf } from "../../../console/src/try/history/history-shelf.ts"
import type { BrowserStorage } from "../../../console/src/try/history/history-shelf.ts"
import { HistoryStore, KEY } from "../../../console/src/try/history/store.ts"
import type { HistoryEntry } from "../../../console/src/try/history/store.ts"

class Kept extends Map<string, string> implements BrowserStorage {
  getItem = (key: string): string | null => this.get(key) ?? null
  setItem = (key: string, value: string): void => void this.set(key, value)
  removeItem = (key: string): void => void this.delete(key)
}

const entry: HistoryEntry = {
  id: "1",
  operationId: "demo.hello",
  at: 1,
  input: {},
  removed: [],
  ending: "200",
  tone: "good",
  durationMs: 1,
}

function opened(): { tab: Kept; browser: Kept; shelf: HistoryShelf; store: HistoryStore } {
  const tab = new Kept()
  const browser = new Kept()
  const shelf = new HistoryShelf(
    () => tab,
    () => browser,
  )
  return { tab, browser, shelf, store: new HistoryStore(() => shelf) }
}

describe("the history of the console", () => {
  test("is kept in the tab alone", () => {
    const { tab, browser, store } = opened()
    store.add(entry)
    expect(tab.get(KEY)).toContain("demo.hello")
    expect([...browser.keys()]).toEqual([])
  })

  test("is kept in the browser once the user chooses so, and moves there and back", () => {
    const { tab, browser, shelf, store } = opened()
    store.add(entry)
    shelf.keep(true, KEY)
    expect([shelf.isKept, tab.has(KEY), browser.has(KEY)]).toEqual([true, false, true])
    shelf.keep(false, KEY)
    expect([shelf.isKept, tab.has(KEY), [...browser.keys()]]).toEqual([false, true, []])
  })

  test("that an earlier version left in the browser is removed", () => {
    const { browser, store } = opened()
    browser.set(KEY, "[]")
    store.add(entry)
    expect(browser.has(KEY)).toBe(false)
  })

  test.each([true, false])("is cleared on both sides, kept (%s) or not", (isKept) => {
    const { tab, browser, shelf, store } = opened()
    shelf.keep(isKept, KEY)
    store.add(entry)
    store.clear()
    expect(`${tab.get(KEY) ?? ""}${browser.get(KEY) ?? ""}`).not.toContain("demo.hello")
  })
})
