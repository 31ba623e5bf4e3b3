import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import fc from "fast-check"
import { readInput } from "../../../src/cli/input/index.ts"
import { UsageError } from "../../../src/cli/model.ts"

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-input-"))
  await writeFile(join(folder, "task.json"), '{"title":"From a file","nested":{"a":1,"b":2}}')
  await writeFile(join(folder, "notes.md"), "Line one\nLine two\n")
  await writeFile(join(folder, "number.txt"), "42\n")
  await writeFile(join(folder, "bytes.bin"), new Uint8Array([0, 255, 1]))
  await writeFile(join(folder, "bom.json"), '\uFEFF{"title":"x"}')
  await writeFile(join(folder, "empty.json"), "")
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

const SCHEMA = {
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    labels: { type: "array", items: { type: "string" } },
    nested: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    items: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, n: { type: "integer" } } },
    },
    "dotted.name": { type: "integer" },
    upload: { format: "binary" },
  },
  additionalProperties: false,
}

interface Given {
  readonly inputs?: readonly string[]
  readonly stdin?: string | Uint8Array
  readonly schema?: unknown
}

async function read(texts: readonly string[], given: Given = {}) {
  const { inputs = [], stdin = "", schema = SCHEMA } = given
  const io = {
    cwd: folder,
    signal: new AbortController().signal,
    stdin: (async function* () {
      yield await Promise.resolve(stdin)
    })(),
  }
  return await readInput({ arguments: texts, inputs, schema }, io)
}

async function value(texts: readonly string[], given?: Given): Promise<unknown> {
  return (await read(texts, given)).value
}

describe("readInput", () => {
  test("makes objects and lists on the way to a value", async () => {
    const texts = ["title=5", "count=5", "nested.a=1", "items[0].name=x", "items[].n=2"]
    expect(await value(texts)).toEqual({
      title: "5",
      count: 5,
      nested: { a: 1 },
      items: [{ name: "x" }, { n: 2 }],
    })
  })

  test("a list is given item by item, by its name again, as JSON, or at once", async () => {
    for (const texts of [
      ["labels[]=a", "labels[]=b"],
      ["labels=a", "labels=b"],
      ["labels[0]=a", "labels[1]=b"],
      ['labels=["a","b"]'],
      ['labels:=["a","b"]'],
    ]) {
      expect(await value(texts)).toEqual({ labels: ["a", "b"] })
    }
    expect(await value(["labels[]=5"])).toEqual({ labels: ["5"] })
  })

  test("the last one counts where there is no list", async () => {
    expect(await value(["title=a", "title=b"])).toEqual({ title: "b" })
  })

  test("--input comes first, later ones over it, then the arguments", async () => {
    const given = { inputs: ["task.json", '{"nested":{"b":3},"labels":["a"]}'] }
    expect(await value(["nested.a=9", "labels[]=b"], given)).toEqual({
      title: "From a file",
      nested: { a: 9, b: 3 },
      labels: ["a", "b"],
    })
    expect(await value(["labels=only"], given)).toMatchObject({ labels: ["only"] })
  })

  test("reads files and stdin, text as it is", async () => {
    expect(await value(["title=@notes.md"])).toEqual({ title: "Line one\nLine two\n" })
    expect(await value(["count=@number.txt"])).toEqual({ count: 42 })
    expect(await value(["nested:=@-"], { stdin: '{"a":1}' })).toEqual({ nested: { a: 1 } })
    expect(await value([], { inputs: ["-"], stdin: '{"title":"x"}' })).toEqual({ title: "x" })
    expect(await value([], { inputs: ["bom.json"] })).toEqual({ title: "x" })
    expect(await value(["upload=@bytes.bin"])).toEqual({ upload: new Uint8Array([0, 255, 1]) })
    expect((await read(["title=@-"])).usedStdin).toBe(true)
    expect((await read(["title=x"])).usedStdin).toBe(false)
  })

  test.each([
    [
      ["title=@none.txt"],
      {},
      /title=@none\.txt: cannot read "none\.txt" \(there is no such file\)\. .*title=@@none\.txt/,
    ],
    [["title=@."], {}, /it is a folder/],
    [["title=@bytes.bin"], {}, /not UTF-8/],
    [["title=@-", "count=@-"], {}, /stdin was read for title=@- already/],
    [["count:=x"], {}, /count:=: that is not JSON/],
    [[], { inputs: ["{'a':1}"] }, /double quotes/],
    [[], { inputs: ["none.json"] }, /--input none\.json: cannot read/],
    [[], { inputs: ["empty.json"] }, /there is nothing/],
    [[], { inputs: ["-"], stdin: "" }, /there is nothing/],
    [["a=1"], { inputs: ["[1]"] }, /"a" cannot be added to the value of --input/],
    [["title=x", "title.y=1"], {}, /"title\.y" goes into "title", which was given as a text/],
    [["labels[5]=x"], {}, /would leave a gap/],
    [["nested.a=1", "nested[]=1"], {}, /adds to a list/],
    [["labels[]=1", "labels.x=1"], {}, /is not an item of a list/],
    [[], { inputs: ["[".repeat(600) + "]".repeat(600)] }, /nested deeper than 512/],
  ] as [string[], Given, RegExp][])(
    "%j %j is refused with the cure",
    async (texts, given, what) => {
      await expect(read(texts, given)).rejects.toThrow(UsageError)
      await expect(read(texts, given)).rejects.toThrow(what)
    },
  )

  test("a name with dots needs no quotes where it is declared so", async () => {
    expect(await value(["dotted.name=5"])).toEqual({ "dotted.name": 5 })
  })

  test("unknown names pass, with what was probably meant", async () => {
    expect(await read(["titel=x"])).toMatchObject({
      value: { titel: "x" },
      notes: ['"titel" is not an input that the operation declares. Did you mean "title"?'],
    })
    expect((await read(["zzz=1"])).notes[0]).toContain("It takes title, count, labels")
    expect((await read(["nested.aa=1"])).notes).toHaveLength(1)
    expect((await read(["x=1"], { schema: {} })).notes).toEqual([])
    const open = { ...SCHEMA, additionalProperties: true }
    expect((await read(["x=1"], { schema: open })).notes).toEqual([])
  })

  test("a name that only the body has goes there", async () => {
    const schema = {
      type: "object",
      properties: {
        owner: { type: "string" },
        body: {
          $ref: "#/$defs/Body",
        },
      },
      $defs: {
        Body: {
          type: "object",
          properties: {
            owner: { type: "string" },
            title: { type: "string" },
            labels: { type: "array", items: { type: "string" } },
          },
        },
      },
    }
    const texts = ["owner=ada", "title=5", "labels[]=bug", "body.owner=eve"]
    expect(await read(texts, { schema })).toMatchObject({
      value: { owner: "ada", body: { title: "5", labels: ["bug"], owner: "eve" } },
      notes: [],
    })
    expect(await value(["titel=x"], { schema })).toEqual({ titel: "x" })
  })

  test("without anything it is an empty object, or nothing where no object is taken", async () => {
    expect(await value([])).toEqual({})
    expect(await value([], { schema: {} })).toEqual({})
    expect(await value([], { schema: { type: "string" } })).toBeUndefined()
    expect(await value([], { schema: { type: "string" }, inputs: ['"x"'] })).toBe("x")
    expect(await value([], { schema: { type: "null" }, inputs: ["null"] })).toBeNull()
    expect(await value([], { schema: { type: "number" }, inputs: ["-1.5"] })).toBe(-1.5)
  })

  test.each([
    ["a body that says nothing", {}],
    ["a body of any names", { type: "object", properties: { a: {} }, additionalProperties: true }],
  ])("a name that nobody declares goes into %s", async (_, body) => {
    const schema = {
      type: "object",
      properties: { owner: { type: "string" }, body },
      additionalProperties: false,
    }
    expect(await read(["owner=ada", "x.y=1"], { schema })).toMatchObject({
      value: { owner: "ada", body: { x: { y: 1 } } },
      notes: [],
    })
  })

  test("readInput changes no prototype", async () => {
    const made = await value(
      ["__proto__.polluted=1", "constructor.prototype.polluted=1", "nested.__proto__=2"],
      { inputs: ['{"__proto__":{"b":1}}'], schema: {} },
    )
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
    expect(Object.hasOwn(made as object, "__proto__")).toBe(true)
    expect(JSON.stringify(made)).toBe(
      '{"__proto__":{"b":1,"polluted":1},"constructor":{"prototype":{"polluted":1}},"nested":{"__proto__":2}}',
    )
  })

  test("what --input gave is not changed by arguments of the same run", async () => {
    const twice = { inputs: ['{"nested":{"a":1}}'] }
    expect(await value(["nested.a=2"], twice)).toEqual({ nested: { a: 2 } })
    expect(await value([], twice)).toEqual({ nested: { a: 1 } })
  })

  test("integers that a number would round keep their digits", async () => {
    const exact = { a: [9007199254740993n, 1, 0.5] }
    const text = '{"a":[9007199254740993,1,0.5]}'
    expect(await value([], { schema: {}, inputs: [text] })).toEqual(exact)
    expect(await value([], { schema: {}, inputs: ["-"], stdin: `\uFEFF${text}` })).toEqual(exact)
    expect(await value([`b:=${text}`], { schema: {} })).toEqual({ b: exact })
    const tooLong = value([], { schema: {}, inputs: [`[${"9".repeat(60)}]`] })
    await expect(tooLong).rejects.toThrow("is beyond those that a number keeps exactly")
  })

  test("any JSON goes in by --input and :=, unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (json) => {
        const text = JSON.stringify(json)
        const plain: unknown = JSON.parse(text)
        expect(await value([`any:=${text}`], { schema: {} })).toEqual({ any: plain })
        expect(await value([], { schema: {}, inputs: ["-"], stdin: text })).toEqual(plain)
      }),
      { numRuns: 50 },
    )
  })
})
