import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { RESERVED_NAMES, isLegalName, ToolNames } from "../../src/tools/tool-names.ts"
import type { Nameable, Naming } from "../../src/tools/tool-names.ts"
import { silentLogger } from "../../src/testing.ts"
import { operation } from "../support/operations.ts"
import { allTools, caller, surfaceOf } from "./surface-support.ts"

function entry(id: string, rawName?: string): Nameable {
  return { id, spec: operation(id, {}), rawName }
}

function assignNames(entries: readonly Nameable[], naming: Naming): ToolNames {
  const names = new ToolNames(naming, silentLogger)
  names.assign(entries)
  return names
}

function namesOf(entries: readonly Nameable[], naming: Naming = "underscore"): string[] {
  const names = assignNames(entries, naming)
  return entries.map(({ id }) => names.nameOf(id) ?? "none")
}

// Few characters, so that different ids often want the same name.
const part = fc.stringMatching(/^[ab_][ab_-]{0,3}$/)
const longPart = fc.stringMatching(/^[ab]{55,70}$/)
const name = fc.oneof(
  part,
  fc.tuple(part, part).map((parts) => parts.join(".")),
  longPart,
)
const raw = fc.option(
  fc.oneof(part, fc.constantFrom("a b", "ü", "a.b", "", "search_operations", "x".repeat(130))),
  { nil: undefined },
)
const entries = fc
  .uniqueArray(fc.tuple(part, name, raw), { selector: ([ns, n]) => `${ns}.${n}`, maxLength: 12 })
  .map((list) => list.map(([ns, n, rawName]) => entry(`${ns}.${n}`, rawName)))
const namings = fc.constantFrom<Naming>(
  "underscore",
  "dots",
  "raw",
  (spec) => spec.name,
  () => "same",
  () => "not legal!",
)

describe("names of tools", () => {
  test("are legal, unique, and lead back to their operations", () => {
    fc.assert(
      fc.property(entries, namings, (list, naming) => {
        const names = assignNames(list, naming)
        const given = list.map(({ id }) => names.nameOf(id) ?? "")
        expect(new Set(given).size).toBe(list.length)
        for (const [index, one] of given.entries()) {
          expect(isLegalName(one, naming)).toBe(true)
          expect(RESERVED_NAMES).not.toContain(one)
          expect(names.idOf(one)).toBe(list[index]?.id)
        }
      }),
    )
  })

  test("do not depend on the order of registration", () => {
    fc.assert(
      fc.property(
        entries.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        namings,
        ([list, shuffled], naming) => {
          const names = assignNames(list, naming)
          const others = assignNames(shuffled, naming)
          for (const { id } of list) expect(others.nameOf(id)).toBe(names.nameOf(id))
        },
      ),
    )
  })

  test("stay when operations come that want other names", () => {
    fc.assert(
      fc.property(entries, part, name, (list, namespace, added) => {
        const newcomer = entry(`z${namespace}.${added}`)
        fc.pre(list.every(({ id, rawName }) => id !== newcomer.id && !rawName?.startsWith("z")))
        fc.pre(list.every(({ id }) => !id.startsWith("z")))
        expect(namesOf([...list, newcomer]).slice(0, -1)).toEqual(namesOf(list))
      }),
    )
  })

  test("get a hash on both sides where two operations want the same one", () => {
    const names = namesOf([entry("a.b_c"), entry("a_b.c"), entry("a.d")])
    expect(names[0]).toMatch(/^a_b_c_[0-9a-f]{6}$/)
    expect(names[1]).toMatch(/^a_b_c_[0-9a-f]{6}$/)
    expect(names[0]).not.toBe(names[1])
    expect(names[2]).toBe("a_d")
  })

  test("are cut where they are too long, and end in a hash", () => {
    const [one = "", two = ""] = namesOf([
      entry(`space.${"long".repeat(30)}`),
      entry(`space.${"long".repeat(30)}er`),
    ])
    expect(one).toMatch(/^space_(?:long)+.*_[0-9a-f]{6}$/)
    expect(one).toHaveLength(64)
    expect(two).not.toBe(one)
  })

  test("of imported tools begin with their namespace", () => {
    expect(namesOf([entry("files.read_file", "read_file")])).toEqual(["files_read_file"])
  })

  describe("that are raw", () => {
    test("are those of the one imported server, where they are legal and free", () => {
      expect(namesOf([entry("files.read_file", "read_file")], "raw")).toEqual(["read_file"])
      expect(namesOf([entry("files.read", "read file")], "raw")).toEqual(["files_read"])
    })

    test("are given to none of several servers", () => {
      const two = [entry("one.find", "find"), entry("two.look", "look")]
      expect(namesOf(two, "raw")).toEqual(["one_find", "two_look"])
    })

    test("stay with the first server when others come, also after it is gone", () => {
      const names = assignNames([entry("one.find", "find")], "raw")
      names.assign([entry("one.find", "find"), entry("two.find", "find")])
      names.assign([entry("two.find", "find"), entry("two.look", "look")])
      expect(["one.find", "two.find", "two.look"].map((id) => names.nameOf(id))).toEqual([
        "find",
        "two_find",
        "two_look",
      ])
    })

    test("give way to those of our own operations", () => {
      const both = [entry("srv.task_create", "task_create"), entry("task.create")]
      expect(namesOf(both, "raw")).toEqual(["srv_task_create", "task_create"])
    })
  })

  test("never move: an operation keeps its own, and no other operation gets it", () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 6 }), namings, (lists, naming) => {
        const names = new ToolNames(naming, silentLogger)
        const ids = new Map<string, string>()
        const given = new Map<string, string>()
        for (const list of lists) {
          names.assign(list)
          for (const { id } of list) {
            const one = names.nameOf(id) ?? ""
            expect(given.get(id) ?? one).toBe(one)
            expect(ids.get(one) ?? id).toBe(id)
            given.set(id, one)
            ids.set(one, id)
          }
        }
      }),
    )
  })

  test("that two operations wanted at once go to neither, also after one of them is gone", () => {
    const names = assignNames([entry("a.b_c"), entry("a_b.c")], "underscore")
    names.assign([entry("a_b.c"), entry("a_b_c.", "x")])
    expect(names.idOf("a_b_c")).toBeUndefined()
    expect(names.nameOf("a_b.c")).toMatch(/^a_b_c_[0-9a-f]{6}$/)
  })

  test("of operations without end take no memory without end", () => {
    const names = new ToolNames("underscore", silentLogger)
    const round = (at: number): Nameable[] =>
      Array.from({ length: 20_000 }, (_, index) => entry(`a.x${at}_${index}`))
    for (let at = 0; at < 5; at++) names.assign(round(at))
    expect(names.size).toBeLessThan(90_000)
    // The first ones are gone, but their names stay theirs.
    expect(names.idOf("a_x0_0")).toBe("a.x0_0")
  })

  test("names of the search tools are reserved", () => {
    const [own = "", imported] = namesOf(
      [entry("search.operations"), entry("srv.call_operation", "call_operation")],
      "raw",
    )
    expect(own).toMatch(/^search_operations_[0-9a-f]{6}$/)
    expect(imported).toBe("srv_call_operation")
  })

  test("keep their dots when that is wanted", () => {
    expect(namesOf([entry("task.sub.create"), entry("srv.x", "x.y")], "dots")).toEqual([
      "task.sub.create",
      "srv.x",
    ])
  })

  test("of a naming that fails are the ids, and the other tools are there", () => {
    const naming = ({ name: own }: { readonly name: string }): string => {
      if (own === "bad") throw new Error("no")
      return own === "none" ? "" : own.toUpperCase()
    }
    const list = ["a.bad", "a.good", "a.none"].map((id) => operation(id, { handler: () => 1 }))
    const tools = allTools(surfaceOf(list, { naming }), caller())
    expect(tools.map((tool) => tool.name)).toEqual(["a.bad", "GOOD", "a.none"])
  })

  test("that no longer say which operation it is come with a title that does", () => {
    const list = ["a.b_c", "a_b.c", "a.d"].map((id) => operation(id, { handler: () => 1 }))
    const titles = allTools(surfaceOf(list)).map((tool) => tool.title)
    expect(titles).toEqual(["a.b_c", undefined, "a_b.c"])
  })
})
