import { describe, expect, test } from "vitest"
import { audit, latencyOf } from "../../tools/faults/audit.ts"
import type { Journal, JournalEntry } from "../../tools/faults/journal.ts"
import type {
  CallerRecords,
  CallRecord,
  RecordedError,
  StreamRecord,
} from "../../tools/faults/records.ts"

/** A call that went well, and what is different about this one. */
function call(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: "c1",
    operationId: "lab.work",
    isIdempotent: false,
    sentAt: 1000,
    timeout: 5000,
    settled: 1,
    settledAt: 1300,
    run: "r1",
    worker: "w1",
    ...changes,
  }
}

function failing(error: Partial<RecordedError>, changes: Partial<CallRecord> = {}): CallRecord {
  const record = {
    code: "WORKER_LOST",
    message: "",
    mayHaveExecuted: true,
    retryable: false,
    ...error,
  }
  return call({ run: undefined, worker: undefined, error: record, ...changes })
}

function stream(changes: Partial<StreamRecord> = {}): StreamRecord {
  return {
    id: "s1",
    sentAt: 1000,
    expected: 10,
    received: 10,
    gaps: 0,
    repeats: 0,
    wrong: 0,
    settledAt: 2000,
    isComplete: true,
    longestWait: 5,
    ...changes,
  }
}

function entry(what: JournalEntry["what"], changes: Partial<JournalEntry> = {}): JournalEntry {
  return { what, call: "c1", run: "r1", worker: "w1", at: 1100, ...changes }
}

/** A run of one call, from beginning to end. */
function run(changes: Partial<JournalEntry> = {}): JournalEntry[] {
  return [entry("start", changes), entry("end", { at: 1200, ...changes })]
}

function found(
  entries: readonly JournalEntry[],
  record: Partial<CallerRecords>,
  torn: readonly string[] = [],
) {
  const journal: Journal = { entries, torn }
  return audit(journal, { calls: record.calls ?? [], streams: record.streams ?? [] })
}

describe("audit", () => {
  test("finds nothing wrong with a call that ran once and was answered", () => {
    expect(found(run(), { calls: [call()] })).toEqual({
      calls: 1,
      streams: 0,
      ok: 1,
      failed: 0,
      codes: {},
      hung: [],
      twice: [],
      repeated: 0,
      untrue: [],
      startedLate: 0,
      lost: 0,
      overdue: 0,
      latency: { p50: 300, p99: 300, max: 300 },
    })
  })

  test("finds nothing wrong where nothing happened", () => {
    expect(found([], {})).toMatchObject({ calls: 0, ok: 0, hung: [], twice: [], untrue: [] })
  })

  test("finds a call that was never settled", () => {
    const hanging = call({ settledAt: undefined, settled: 0, run: undefined })
    expect(found(run(), { calls: [hanging] })).toMatchObject({ hung: ["c1"], ok: 0 })
  })

  test("finds a call that ran on two workers", () => {
    const entries = [...run(), ...run({ run: "r2", worker: "w2" })]
    expect(found(entries, { calls: [call()] }).twice).toEqual(["c1"])
  })

  test("finds a call that ran twice on one worker", () => {
    const entries = [...run(), entry("start", { run: "r2" })]
    expect(found(entries, { calls: [call()] }).twice).toEqual(["c1"])
  })

  test("finds a second run of which only the end was written down", () => {
    const entries = [...run(), entry("end", { run: "r2" })]
    expect(found(entries, { calls: [call()] }).twice).toEqual(["c1"])
  })

  test("lets an idempotent call run again, and counts it", () => {
    const entries = [entry("start"), ...run({ run: "r2", worker: "w2" })]
    const record = call({ isIdempotent: true, operationId: "lab.read", run: "r2", worker: "w2" })
    expect(found(entries, { calls: [record] })).toMatchObject({
      twice: [],
      repeated: 1,
      untrue: [],
    })
  })

  test("finds a success that never ran", () => {
    expect(found([], { calls: [call()] }).untrue).toEqual(["c1 succeeded, but never ran."])
  })

  test("finds a success with the answer of another run", () => {
    expect(found(run(), { calls: [call({ run: "r9" })] }).untrue).toEqual([
      "c1 succeeded with the answer of another call (r9).",
    ])
  })

  test("finds a success of a run that did not end", () => {
    expect(found([entry("start")], { calls: [call()] }).untrue).toEqual([
      "c1 succeeded, but run r1 did not end.",
    ])
  })

  test("finds a success that names another worker", () => {
    expect(found(run(), { calls: [call({ worker: "w2" })] }).untrue).toHaveLength(1)
  })

  test("finds an answer that was not its own", () => {
    expect(found(run(), { calls: [call({ isWrong: true })] }).untrue).toHaveLength(1)
  })

  test("finds a call that was settled twice", () => {
    expect(found(run(), { calls: [call({ settled: 2 })] }).untrue).toHaveLength(1)
  })

  test.each(["UNAVAILABLE", "TIMEOUT", "ABORTED"])(
    "finds a %s that says that a call did not run which had",
    (code) => {
      const record = failing({ code, mayHaveExecuted: false, retryable: false })
      expect(found(run(), { calls: [record] }).untrue).toEqual([
        `c1 failed with ${code}, "did not run", and had run on w1.`,
      ])
    },
  )

  test("finds a call that started after its caller received that it did not run", () => {
    const record = failing({ code: "TIMEOUT", mayHaveExecuted: false }, { settledAt: 1050 })
    const report = found(run(), { calls: [record] })
    expect(report.untrue).toEqual([
      `c1 failed with TIMEOUT, "did not run", and began after that on w1.`,
    ])
    expect(report.startedLate).toBe(1)
  })

  test("says the same of an idempotent call", () => {
    const record = failing({ code: "TIMEOUT", mayHaveExecuted: false }, { isIdempotent: true })
    expect(found(run(), { calls: [record] }).untrue).toHaveLength(1)
  })

  test("finds leave to repeat a call that had an effect", () => {
    const record = failing({ code: "UNAVAILABLE", retryable: true })
    expect(found(run(), { calls: [record] }).untrue).toEqual([
      `c1 failed with UNAVAILABLE, "may be repeated", and had an effect on w1.`,
    ])
  })

  test("allows leave to repeat what is idempotent, or did not run", () => {
    const read = failing({ retryable: true }, { isIdempotent: true })
    const refused = failing({ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false })
    expect(found(run(), { calls: [read] }).untrue).toEqual([])
    expect(found([], { calls: [refused] }).untrue).toEqual([])
  })

  test("lets an error say that a call may have run which did not", () => {
    expect(found([], { calls: [failing({})] })).toMatchObject({ untrue: [], failed: 1, lost: 0 })
  })

  test("finds an error that is none of ours", () => {
    const record = failing({
      code: "NO_CALL_ERROR",
      mayHaveExecuted: undefined,
      retryable: undefined,
    })
    expect(found([], { calls: [record] }).untrue).toHaveLength(1)
  })

  test("finds a run without a call", () => {
    expect(found(run({ call: "x" }), { calls: [] }).untrue).toEqual([
      "x ran, but no caller has a record of it.",
    ])
  })

  test("does not overlook a line that cannot be read", () => {
    expect(found([], {}, ['{"what":"sta']).untrue).toHaveLength(1)
  })

  test("counts work whose result its caller did not get, codes, and what came after the deadline", () => {
    const report = found([...run(), entry("start", { call: "c2", run: "r2" })], {
      calls: [failing({}, { settledAt: 6500 }), failing({ code: "TIMEOUT" }, { id: "c2" })],
    })
    expect(report).toMatchObject({
      lost: 1,
      failed: 2,
      codes: { WORKER_LOST: 1, TIMEOUT: 1 },
      overdue: 500,
      untrue: [],
    })
  })

  test("keeps calls apart whose ids are names of object members", () => {
    const ids = ["__proto__", "constructor", "toString"]
    const entries = ids.flatMap((id) => run({ call: id, run: id }))
    const calls = ids.map((id) => call({ id, run: id }))
    expect(found(entries, { calls })).toMatchObject({ ok: 3, untrue: [], twice: [] })
  })
})

describe("audit of streams", () => {
  const ran = run({ call: "s1" })

  test("finds nothing wrong with one that came in whole, was left, or ended with an error", () => {
    for (const record of [
      stream(),
      stream({ isComplete: undefined, isLeft: true, received: 3 }),
      stream({ isComplete: undefined, received: 3, error: failing({}).error }),
    ]) {
      expect(found(ran, { streams: [record] })).toMatchObject({ untrue: [], hung: [], twice: [] })
    }
  })

  test.each<[string, Partial<StreamRecord>]>([
    ["items that are missing", { gaps: 1 }],
    ["items that came twice", { repeats: 1 }],
    ["items that are not its own", { wrong: 1 }],
    ["an end that came too early", { received: 9 }],
    [
      "an error that says that it did not run",
      { isComplete: undefined, error: failing({ mayHaveExecuted: false }).error },
    ],
    [
      "an error that is none of ours",
      { isComplete: undefined, error: failing({ mayHaveExecuted: undefined }).error },
    ],
  ])("finds %s", (_what, changes) => {
    expect(found(ran, { streams: [stream(changes)] }).untrue).toHaveLength(1)
  })

  test("finds items of a stream that never ran", () => {
    expect(found([], { streams: [stream()] }).untrue).toHaveLength(1)
  })

  test("finds a stream that ran twice, and one that stays silent", () => {
    const again = [...ran, entry("start", { call: "s1", run: "r2" })]
    const silent = stream({ settledAt: undefined, isComplete: undefined, received: 3 })
    expect(found(again, { streams: [stream()] }).twice).toEqual(["s1"])
    expect(found(ran, { streams: [silent] }).hung).toEqual(["s1"])
  })
})

describe("latencyOf", () => {
  test("returns the median, the 99th percentile and the maximum", () => {
    const times = Array.from({ length: 200 }, (_, at) => 200 - at)
    expect(latencyOf(times)).toEqual({ p50: 101, p99: 199, max: 200 })
    expect(latencyOf([])).toEqual({ p50: 0, p99: 0, max: 0 })
    expect(latencyOf([7])).toEqual({ p50: 7, p99: 7, max: 7 })
  })
})
