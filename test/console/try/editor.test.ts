import { json } from "@codemirror/lang-json"
import { ensureSyntaxTree } from "@codemirror/language"
import { CompletionContext } from "@codemirror/autocomplete"
import { EditorState } from "@codemirror/state"
import { describe, expect, it } from "vitest"
import { completionFrom } from "../../../console/src/try/editor/complete.ts"
import { diagnose } from "../../../console/src/try/editor/lint.ts"
import { readJson } from "../../../console/src/try/editor/read-json.ts"
import { createCheck } from "../../../console/src/try/schema/issues.ts"

const schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    kind: { enum: ["cat", "dog"] },
    on: { type: "boolean" },
    at: { $ref: "#/$defs/place" },
    list: { type: "array", items: { $ref: "#/$defs/place" } },
  },
  $defs: {
    place: { type: "object", properties: { city: { type: "string" }, zip: { type: "string" } } },
  },
}

const stateOf = (text: string): EditorState => {
  const state = EditorState.create({ doc: text, extensions: json() })
  ensureSyntaxTree(state, text.length, 5000)
  return state
}

/** What is offered where `|` stands. */
function offered(marked: string, explicit = true): readonly string[] {
  const pos = marked.indexOf("|")
  const state = stateOf(marked.replace("|", ""))
  const result = completionFrom(() => schema)(new CompletionContext(state, pos, explicit))
  return result?.options.map(({ label, displayLabel }) => displayLabel ?? label) ?? []
}

function applied(marked: string, label: string): string {
  const pos = marked.indexOf("|")
  const state = stateOf(marked.replace("|", ""))
  const result = completionFrom(() => schema)(new CompletionContext(state, pos, true))
  const option = result?.options.find((one) => (one.displayLabel ?? one.label) === label)
  if (result === null || result === undefined || typeof option?.apply !== "string") return "nothing"
  const text = state.doc.toString()
  return text.slice(0, result.from) + option.apply + text.slice(result.to ?? pos)
}

describe("completion in the JSON editor", () => {
  it("offers names that are not there yet", () => {
    expect(offered("{|}")).toEqual(["name", "kind", "on", "at", "list"])
    expect(offered('{"name": "x", |}')).toEqual(["kind", "on", "at", "list"])
    expect(offered('{"n|"}')).toContain("name")
    expect(offered('{"at": {"|"}}')).toEqual(["city", "zip"])
    expect(offered('{"list": [{"city": "a"}, {|}]}')).toEqual(["city", "zip"])
  })

  it("offers values", () => {
    expect(offered('{"kind": |}')).toEqual(['"cat"', '"dog"'])
    expect(offered('{"kind": "c|"}')).toEqual(['"cat"', '"dog"'])
    expect(offered('{"on": |}')).toEqual(["true", "false"])
    expect(offered('{"other": |}')).toEqual([])
  })

  it("puts in what is JSON", () => {
    expect(applied("{|}", "name")).toBe('{"name": ""}')
    expect(applied('{"na|"}', "name")).toBe('{"name": ""}')
    expect(applied('{"n|": 1}', "name")).toBe('{"name": 1}')
    expect(applied('{"kind": "c|"}', '"dog"')).toBe('{"kind": "dog"}')
    expect(applied('{"kind": |}', '"dog"')).toBe('{"kind": "dog"}')
  })
})

describe("diagnostics in the JSON editor", () => {
  const marks = (text: string): readonly string[] => {
    const state = stateOf(text)
    return diagnose(state, createCheck(schema)).map(
      ({ from, to, message }) => `${state.sliceDoc(from, to)} ${message}`,
    )
  }

  it("are at their places in the text", () => {
    expect(marks('{"name": 4}')).toEqual(["4 /name must be string, not number"])
    expect(marks('{"name": "x", "list": [{"city": "a"}, {"city": 2}]}')).toEqual([
      "2 /list/1/city must be string, not number",
    ])
    expect(marks('{"kind": "cat"}')).toEqual(["{ /name is required"])
    expect(marks('{"name": "x", "at": []}')).toEqual(['"at" /at must be object, not array'])
  })

  it("are reported for text that is not JSON", () => {
    expect(marks('{"name": }')).toHaveLength(1)
    expect(marks("{")).toHaveLength(1)
    expect(marks("")).toEqual([])
  })
})

describe("the text of the JSON editor", () => {
  it("is parsed, or reported with a reason", () => {
    expect(readJson(" ")).toEqual({ ok: true, value: undefined })
    expect(readJson("null")).toEqual({ ok: true, value: null })
    expect(readJson("{'a'}").ok).toBe(false)
  })
})
