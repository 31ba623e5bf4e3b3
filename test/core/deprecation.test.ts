import { describe, expect, test } from "vitest"
import { deprecationText } from "../../src/core/deprecation.ts"
import { collectErrors, OperationSpecSchema } from "../../src/index.ts"
import { greet, quietRegistry, thrown } from "../support/operations.ts"

describe("deprecation of an operation", () => {
  test("makes it deprecated, and is frozen data of its spec", () => {
    const deprecation = { since: "2026-03-01", sunset: "2026-03-01", replacedBy: "demo.hello" }
    const spec = quietRegistry([{ ...greet, deprecation }]).getSpec("demo.greet")
    expect(spec).toMatchObject({ deprecated: true, deprecation })
    expect(Object.isFrozen(spec?.deprecation)).toBe(true)
    expect(collectErrors(OperationSpecSchema, spec)).toEqual([])
  })

  test.each([
    [{ since: "yesterday" }, 'deprecation.since must be a date such as "2026-03-01"'],
    [{ sunset: "2026-03-01T10:00:00" }, "deprecation.sunset must be a date"],
    [{ since: "2026-02-31" }, "deprecation.since is not a valid date: 2026-02-31"],
    [{ since: "2026-13-01" }, "deprecation.since is not a valid date"],
    [{ since: "2026-03-01T25:00Z" }, "deprecation.since is not a valid date"],
    [
      { since: "2026-03-02", sunset: "2026-03-01" },
      "deprecation.sunset must not be before since (2026-03-02)",
    ],
    [{ replacedBy: "hello" }, "deprecation.replacedBy must be the id of an operation"],
    [{ replacedBy: 'demo.x>; rel="x"' }, "deprecation.replacedBy must be"],
    [{ link: "/changes" }, "deprecation.link must be an http or https URL"],
    [{ link: "https://example.com/\r\nset-cookie: a=b" }, "deprecation.link must be"],
    [{ link: 'https://example.com/>; rel="next"' }, "deprecation.link must be"],
    [{ link: "https://example.com/ä" }, "deprecation.link must be"],
  ])("is refused at registration: %o", (deprecation, message) => {
    const error = thrown(() => quietRegistry([{ ...greet, deprecation }]))
    expect(String(error)).toContain(message)
  })

  test("is refused beside deprecated: false", () => {
    const definition = { ...greet, deprecated: false, deprecation: { since: "2026-03-01" } }
    expect(String(thrown(() => quietRegistry([definition])))).toContain(
      "deprecated must not be false if there is a deprecation",
    )
  })

  test("is described in sentences", () => {
    expect(deprecationText({})).toBe("Deprecated.")
    expect(
      deprecationText({
        deprecation: { since: "2026-03-01", sunset: "2026-09-01", replacedBy: "task.create" },
      }),
    ).toBe(
      'Deprecated since 2026-03-01. It may be gone after 2026-09-01. Use "task.create" instead.',
    )
  })
})
