import { describe, expect, test, vi } from "vitest"
import type { HubClient } from "../../../console/src/api/model.ts"
import type {
  OperationSpec,
  OperationSummary,
  SourceStatus,
} from "../../../console/src/api/model.ts"
import { HubStore } from "../../../console/src/app/store.ts"
import { waitFor } from "../../support/wait-for.ts"

describe("HubStore", () => {
  test("reads the list, and keeps what it has when reading it again fails", async () => {
    let answer: () => Promise<readonly OperationSummary[]> = async () => [summary("a.b")]
    const store = storeWith({ list: () => answer() })
    store.reload()
    await waitFor(() => expect(store.operations.status).toBe("ready"))
    answer = () => Promise.reject(new Error("gone"))
    store.reload()
    await settled()
    expect(store.operations).toMatchObject({ status: "ready", operations: [{ id: "a.b" }] })
  })

  test("reports why it has no list, and loads it when the hub works again", async () => {
    let fails = true
    const store = storeWith({
      list: async () => {
        if (fails) throw new Error("refused")
        return [summary("a.b")]
      },
    })
    store.reload()
    await waitFor(() => expect(store.operations.status).toBe("failed"))
    expect(store.operations.error?.message).toBe("refused")
    fails = false
    store.reload()
    expect(store.operations.status).toBe("loading")
    await waitFor(() => expect(store.operations.status).toBe("ready"))
  })

  test("takes the last answer that was asked for, whichever comes last", async () => {
    const answers: ((operations: readonly OperationSummary[]) => void)[] = []
    const store = storeWith({
      list: () => new Promise<readonly OperationSummary[]>((resolve) => answers.push(resolve)),
    })
    store.reload()
    store.reload()
    answers[1]?.([summary("new.one")])
    answers[0]?.([summary("old.one")])
    await settled()
    expect(store.operations.operations.map(({ id }) => id)).toEqual(["new.one"])
  })

  test("loads a spec once, and keeps the object while it is unchanged", async () => {
    const describeSpec = vi.fn(async (id: string) => spec(id))
    const store = storeWith({ describe: describeSpec })
    store.requestSpec("a.b")
    store.requestSpec("a.b")
    await waitFor(() => expect(store.spec("a.b").status).toBe("ready"))
    const before = store.spec("a.b")
    expect(describeSpec).toHaveBeenCalledTimes(1)

    store.reload()
    await waitFor(() => expect(store.operations.status).toBe("ready"))
    store.requestSpec("a.b")
    await settled()
    expect(describeSpec).toHaveBeenCalledTimes(2)
    expect(store.spec("a.b")).toBe(before)
  })

  test("asks again for a spec that could not be read", async () => {
    let fails = true
    const store = storeWith({
      describe: async (id) => {
        if (fails) throw new Error("no")
        return spec(id)
      },
    })
    store.requestSpec("a.b")
    await waitFor(() => expect(store.spec("a.b").status).toBe("failed"))
    fails = false
    store.requestSpec("a.b")
    await waitFor(() => expect(store.spec("a.b").status).toBe("ready"))
  })

  test("keeps a bounded number of specs, those wanted last", async () => {
    const store = storeWith({ describe: async (id) => spec(id) })
    for (let at = 0; at < 150; at++) store.requestSpec(`a.${at}`)
    await settled()
    expect(store.spec("a.149").status).toBe("ready")
    expect(store.spec("a.0").status).toBe("loading")
  })

  test("drops everything when the identity changes", async () => {
    const store = storeWith({
      list: async () => [summary("a.b")],
      describe: async (id) => spec(id),
    })
    store.reload()
    store.requestSpec("a.b")
    await waitFor(() => expect(store.spec("a.b").status).toBe("ready"))
    store.restart()
    expect(store.operations).toEqual({ status: "loading", operations: [] })
    expect(store.spec("a.b").status).toBe("loading")
    await waitFor(() => expect(store.operations.status).toBe("ready"))
  })

  test("reads the list again when sources have changed, or the hub is back", async () => {
    const list = vi.fn(async () => [summary("a.b")])
    const store = storeWith({ list })
    store.updateSources([source("ready", 1)])
    store.updateSources([source("ready", 1)])
    expect(list).toHaveBeenCalledTimes(0)
    store.updateSources([source("ready", 2)])
    expect(list).toHaveBeenCalledTimes(1)
    await settled()
    store.setReachable(false)
    store.setReachable(true)
    store.setReachable(true)
    expect(list).toHaveBeenCalledTimes(2)
    expect(store.connection).toBe("online")
  })

  test("ends what is under way when it is closed", async () => {
    let seen: AbortSignal | undefined
    const store = storeWith({
      list: (signal) => {
        seen = signal
        return new Promise(() => undefined)
      },
    })
    store.reload()
    store.close()
    store.close()
    expect(seen?.aborted).toBe(true)
  })
})

function storeWith(parts: Partial<HubClient>): HubStore {
  return new HubStore({
    baseUrl: "http://hub.test/",
    list: async () => [],
    describe: () => Promise.reject(new Error("not asked for")),
    ...parts,
  } as HubClient)
}

/** Runs the callbacks of promises that have settled. */
async function settled(): Promise<void> {
  for (let at = 0; at < 20; at++) await Promise.resolve()
}

function summary(id: string): OperationSummary {
  return { id, namespace: "a", name: "b", type: "query", description: "" }
}

function spec(id: string): OperationSpec {
  const [namespace = "", name = ""] = id.split(".")
  return {
    namespace,
    name,
    version: "1.0.0",
    type: "query",
    description: "",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
  }
}

function source(state: SourceStatus["state"], operations: number): SourceStatus {
  return {
    name: "one",
    kind: "scan",
    namespace: "one",
    origin: "./operations",
    state,
    operations,
    attempts: 0,
  }
}
