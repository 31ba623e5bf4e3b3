import { describe, expect, test } from "vitest"
import { findCommands } from "../../../console/src/find/commands.ts"
import type { Command } from "../../../console/src/find/commands.ts"

const COMMANDS: readonly Command[] = [
  command("view", "Calls"),
  command("action", "Change the theme to dark"),
  command("action", "Clear the filters"),
  command("source", "calls-api"),
  command("tag", "Straßen & Plätze"),
]

function command(kind: Command["kind"], label: string): Command {
  return { key: label, kind, label, icon: "tag", run: () => undefined }
}

function labels(query: string): readonly (readonly string[])[] {
  const { first, others } = findCommands(COMMANDS, query)
  return [first.map(({ label }) => label), others.map(({ label }) => label)]
}

describe("commands of the palette", () => {
  test("are found by the beginnings of their words, in any order", () => {
    expect(labels("dark theme")).toEqual([[], ["Change the theme to dark"]])
    expect(labels("PLATZ")).toEqual([[], ["Straßen & Plätze"]])
    expect(labels("heme")).toEqual([[], []])
  })

  test("come before operations where the query begins a view or an action", () => {
    expect(labels("calls")).toEqual([["Calls"], ["calls-api"]])
    expect(labels("c")).toEqual([
      ["Calls", "Change the theme to dark", "Clear the filters"],
      ["calls-api"],
    ])
  })

  test("are none for a query without words", () => {
    expect(labels("")).toEqual([[], []])
    expect(labels(" / ")).toEqual([[], []])
    expect(labels("__proto__")).toEqual([[], []])
  })
})
