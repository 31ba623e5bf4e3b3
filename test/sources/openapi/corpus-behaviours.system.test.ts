// What a good importer makes of real documents, one test for each thing that others get wrong.
import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import { OperationRegistry } from "../../../src/index.ts"
import type { ImportedOperation, ImportedOperations } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { corpusObject, corpusText, hasCorpus } from "./corpus.ts"

type Node = Readonly<Record<string, unknown>> & {
  readonly $defs?: Readonly<Record<string, Node>>
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
}

interface Binding {
  readonly method: string
  readonly path: string
  readonly operationId?: string
  readonly inputs: ReadonlyArray<{
    readonly key: string
    readonly in: string
    readonly name: string
  }>
}

const imports = new Map<string, ImportedOperations>()

function importOf(file: string): ImportedOperations {
  let found = imports.get(file)
  if (found === undefined) {
    found = FromOpenAPI(corpusText(file), { namespace: "api", baseUrl: "https://api.test" })
    imports.set(file, found)
  }
  return found
}

function operationOf(file: string, name: string): ImportedOperation {
  const found = importOf(file).find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`${file} has no operation "${name}".`)
  return found
}

function inputOf(file: string, name: string): Node {
  return operationOf(file, name).inputSchema as Node
}

function outputOf(file: string, name: string): Node {
  return operationOf(file, name).outputSchema as Node
}

function bindingOf({ _meta }: ImportedOperation): Binding {
  return _meta?.["openapi"] as Binding
}

function namesOf(file: string, type: ImportedOperation["type"]): string[] {
  return importOf(file)
    .filter((operation) => operation.type === type)
    .map(({ name }) => name)
    .toSorted()
}

describe.runIf(hasCorpus)("loading", () => {
  test("reads anchors, aliases and merge keys of YAML", () => {
    const operations = importOf("libopenapi/yaml-anchor.yaml")

    expect(operations.map(({ name }) => name)).toEqual([
      "get_system_examples_by_id",
      "post_system_examples_by_id",
    ])
    expect(operations.report.warnings).toEqual([])
  })

  test("takes a version that is a number", () => {
    expect(importOf("heyapi/3.0-rpc.yaml")).toHaveLength(8)
  })

  test("finds no operations where there are no paths", () => {
    for (const file of ["minimal_comp", "minimal_hooks", "webhook-example"]) {
      const operations = importOf(`oai-3.2/${file}.yaml`)
      expect(operations).toHaveLength(0)
      expect(operations.report.counts.skipped).toBe(0)
    }
  })

  test("goes on after broken references, and says where each of them is", () => {
    const file = "libopenapi/petstorev2-badref.json"
    const { operations, counts } = importOf(file).report
    const notes = operations.flatMap((operation) => operation.notes)

    expect(counts).toMatchObject({ kept: 14, widened: 6, skipped: 0 })
    expect(notes.map(({ pointer }) => pointer)).toEqual([
      "/paths/~1pet~1{petId}~1uploadImage/post/responses/200/schema",
      "/paths/~1pet/post/parameters/0/schema",
      "/paths/~1pet~1findByStatus/get/responses/200/schema/items",
      "/paths/~1pet~1findByTags/get/responses/200/schema/items",
      "/paths/~1store~1order/post/parameters/0/schema",
      "/paths/~1store~1order~1{orderId}/get/responses/200/schema",
    ])
    for (const { message } of notes) expect(message).toMatch(/^Reference "#\/definitions\/\w+"/)
    const { outputSchema } = operationOf(file, "uploadFile")
    expect(compileSchema(outputSchema).check({ anything: 1 })).toBe(true)
  })

  test("follows references to path items", async () => {
    const file = "readme/3.0-server-path-level.json"
    const operation = operationOf(file, "get_path_item_ref_server")

    expect(bindingOf(operation).path).toBe("/path-item-ref-server")
    const raw = corpusObject(file) as { servers: unknown; paths: Record<string, { $ref?: string }> }
    expect(raw.paths["/path-item-ref-server"]?.$ref).toBeTypeOf("string")
    await expect(prepareRequest(operation, {})).rejects.toMatchObject({ code: "EGRESS_BLOCKED" })
  })

  test("leaves the caller's object as it was: nothing of it is frozen", () => {
    const document = corpusObject("redocly-3.2/cafe.yaml")
    const operations = FromOpenAPI(document, { namespace: "cafe", baseUrl: "https://cafe.test" })

    new OperationRegistry().registerAll(operations)
    for (const { inputSchema, outputSchema, examples } of operations) {
      for (const schema of [inputSchema, outputSchema]) compileSchema(schema).check(examples)
    }
    expect(String(operations.report)).toContain("12 kept")

    const frozen: unknown[] = []
    JSON.stringify(document, (key, value: unknown) => {
      if (typeof value === "object" && Object.isFrozen(value) && value !== null) frozen.push(key)
      return value
    })
    expect(frozen).toEqual([])
  })

  test("leaves out what a filter does not want", () => {
    const operations = FromOpenAPI(corpusText("notion.json"), {
      namespace: "notion",
      filter: ({ method }) => method === "GET",
    })

    expect(operations.every((operation) => bindingOf(operation).method === "GET")).toBe(true)
    expect(operations.length + operations.report.counts.filtered).toBe(24)
  })
})

describe.runIf(hasCorpus)("names and what is said about operations", () => {
  test.each([
    ["github.json.gz", "issues_create", "issues/create"],
    ["opencode.json.gz", "session.prompt", "session.prompt"],
    ["box.json.gz", "post_oauth2_token_refresh", "post_oauth2_token#refresh"],
    ["heyapi/3.0-full.yaml", "foo_Wow", "foo+Wow"],
  ])("%s: %s is made of %s, which is kept", (file, name, operationId) => {
    expect(bindingOf(operationOf(file, name)).operationId).toBe(operationId)
  })

  test("are made of method and path where the document gives no id", () => {
    const operation = operationOf(
      "heyapi/3.0-full.yaml",
      "get_api_v_by_api_version_simple_operation",
    )

    expect(bindingOf(operation)).toMatchObject({
      method: "GET",
      path: "/api/v{api-version}/simple:operation",
    })
    expect(bindingOf(operation)).not.toHaveProperty("operationId")
  })

  test("say what is deprecated", () => {
    const deprecated = importOf("github.json.gz").filter((operation) => operation.deprecated)

    expect(deprecated).toHaveLength(37)
  })

  test("tell reading from writing", () => {
    const types = new Map<string, Set<string>>()
    for (const operation of importOf("docker-engine.yaml.gz")) {
      const { method } = bindingOf(operation)
      types.set(method, (types.get(method) ?? new Set()).add(operation.type))
    }

    expect([...types.get("HEAD")!]).toEqual(["query"])
    expect([...types.get("GET")!].toSorted()).toEqual(["query", "subscription"])
    expect([...types.get("PUT")!]).toEqual(["mutation"])
    expect([...types.get("DELETE")!]).toEqual(["mutation"])
  })
})

describe.runIf(hasCorpus)("input schemas", () => {
  test("leave out what is read-only, also where a schema is shared with the output", () => {
    const { body } = inputOf("redocly-3.2/cafe.yaml", "createOrder").properties!
    const order = inputOf("redocly-3.2/cafe.yaml", "createOrder").$defs!["Order"]!
    const answer = outputOf("redocly-3.2/cafe.yaml", "createOrder").$defs!["Order"]!

    expect(body).toEqual({ $ref: "#/$defs/Order" })
    expect(Object.keys(order.properties!)).toEqual(["customerName", "orderItems"])
    expect(order.required).toEqual(["customerName", "orderItems"])
    expect(Object.keys(answer.properties!)).toHaveLength(8)
  })

  test("take undeclared parts of a path for required texts, and the report says so", () => {
    const file = "heyapi/3.0-full.yaml"
    const { properties, required } = inputOf(file, "GetCallWithoutParametersAndResponse")

    expect(properties).toEqual({ "api-version": { type: "string" } })
    expect(required).toEqual(["api-version"])
    expect(String(importOf(file).report)).toContain("The path has {api-version}")
  })

  test("give both of two parameters that share a name", () => {
    const operation = operationOf(
      "kubernetes-v2.json.gz",
      "connectCoreV1DeleteNamespacedPodProxyWithPath",
    )

    expect(bindingOf(operation).inputs).toEqual([
      { key: "name", in: "path", name: "name" },
      { key: "namespace", in: "path", name: "namespace" },
      { key: "path", in: "path", name: "path" },
      { key: "query_path", in: "query", name: "path" },
    ])
    const reported = importOf("kubernetes-v2.json.gz").report.operations.find(
      ({ id }) => id === `api.${operation.name}`,
    )
    expect(reported?.status).toBe("kept")
    expect(reported?.notes[0]?.message).toContain('"query_path"')
  })

  test("give parameters and properties of the body that share a name", () => {
    const { properties } = inputOf("github.json.gz", "actions_update-org-variable")

    expect(Object.keys(properties!)).toEqual(["org", "name", "body"])
    expect(Object.keys(properties!["body"]!.properties!)).toContain("name")
  })

  test("give both of them when bodies are flattened", () => {
    const operations = FromOpenAPI(corpusText("github.json.gz"), {
      namespace: "api",
      flatten: true,
      filter: ({ operationId }) => operationId === "actions/update-org-variable",
    })

    expect(bindingOf(operations[0]!).inputs).toEqual([
      { key: "org", in: "path", name: "org" },
      { key: "name", in: "path", name: "name" },
      { key: "body_name", in: "body", name: "name" },
      { key: "value", in: "body", name: "value" },
      { key: "visibility", in: "body", name: "visibility" },
      { key: "selected_repository_ids", in: "body", name: "selected_repository_ids" },
    ])
  })

  test("understand the nullable of 3.0 in a 3.1 document", () => {
    const text = JSON.stringify(inputOf("openai.yaml.gz", "createChatCompletion"))

    expect(text).toContain('"frequency_penalty":{"type":["number","null"]')
    expect(text).not.toContain('"nullable"')
  })

  test("drop patterns that JavaScript cannot read, and the report says so", () => {
    const { operations } = importOf("paypal/invoicing_v2.json").report
    const pointers = new Set(operations.flatMap(({ notes }) => notes.map(({ pointer }) => pointer)))

    expect([...pointers].toSorted()).toEqual([
      "/components/parameters/fields/schema/pattern",
      "/components/schemas/qr_config/properties/action/pattern",
    ])
  })

  test("leave out the headers that say what a body is, except where 2.0 declares them", async () => {
    const built = operationOf("docker-engine.yaml.gz", "ImageBuild")
    const { headers } = await prepareRequest(built, { body: new Uint8Array([1]) })

    expect(headers).toMatchObject({ "content-type": "application/x-tar" })
    const ignored = new Set(["accept", "authorization", "content-type"])
    for (const file of ["github.json.gz", "box.json.gz", "openai.yaml.gz"]) {
      const names = importOf(file).flatMap((operation) => bindingOf(operation).inputs)
      expect(
        names.filter((one) => one.in === "header" && ignored.has(one.name.toLowerCase())),
      ).toEqual([])
    }
  })
})

describe.runIf(hasCorpus)("requests", () => {
  test.each([
    ["box.json.gz", "get_files_id", { file_id: "12" }, "/files/12"],
    [
      "box.json.gz",
      "get_files_id_get_shared_link",
      { file_id: "12", fields: "shared_link" },
      "/files/12?fields=shared_link",
    ],
    ["openai.yaml.gz", "getResponse", { response_id: "r_1" }, "/responses/r_1"],
    ["openai.yaml.gz", "beta_getResponse", { response_id: "r_1" }, "/responses/r_1?beta=true"],
  ])(
    "%s: %s keeps the query of its path and drops the fragment",
    async (file, name, input, path) => {
      const { url } = await prepareRequest(operationOf(file, name), input)

      expect(url).toBe(`https://api.test${path}`)
    },
  )

  test("of a GET whose declared body is empty have none", async () => {
    const request = await prepareRequest(operationOf("stripe.yaml.gz", "GetAccount"), {})

    expect(request).toEqual({
      method: "GET",
      url: "https://api.test/v1/account",
      headers: { accept: "application/json" },
    })
  })
})

describe.runIf(hasCorpus)("output schemas", () => {
  test("leave out what is write-only", () => {
    const { OrderItem } = outputOf("redocly-3.2/cafe.yaml", "listOrderItems").$defs!

    expect(Object.keys(OrderItem!.properties!)).toEqual([
      "menuItem",
      "quantity",
      "discount",
      "comment",
    ])
    expect(OrderItem!.required).toEqual(["quantity"])
  })

  test("are a union where successes differ", () => {
    const { anyOf } = outputOf("qdrant.json.gz", "create_snapshot") as { anyOf?: Node[] }
    expect(anyOf).toHaveLength(2)

    const check = compileSchema(
      operationOf("github.json.gz", "activity_mark-notifications-as-read").outputSchema,
    )
    expect(check.check({ message: "Queued." })).toBe(true)
    expect(check.check(undefined)).toBe(true)
    expect(check.check("other")).toBe(false)
  })

  test("are of JSON where there are several content types", () => {
    expect(outputOf("petstore-3.0.yaml", "loginUser")).toEqual({ type: "string" })
    expect(outputOf("github.json.gz", "repos_get-content")["anyOf"]).toHaveLength(4)
  })

  test("are void where nothing comes back", () => {
    const { outputSchema } = operationOf("github.json.gz", "actions_update-org-variable")

    expect(compileSchema(outputSchema).check(undefined)).toBe(true)
    expect(compileSchema(outputSchema).check({})).toBe(false)
  })

  test("take bytes where a file comes back", () => {
    const { outputSchema } = operationOf("stripe.yaml.gz", "GetQuotesQuotePdf")

    expect(compileSchema(outputSchema).check(new Uint8Array([37, 80, 68, 70]))).toBe(true)
  })

  test("share their definitions", () => {
    const charge = (name: string): Node | undefined =>
      outputOf("stripe.yaml.gz", name).$defs?.["charge"]

    expect(charge("GetCharges")).toBeDefined()
    expect(charge("GetCharges")).toBe(charge("GetChargesCharge"))
  })
})

describe.runIf(hasCorpus)("streams", () => {
  test.each([
    [
      "opencode.json.gz",
      ["event.subscribe", "global.event", "v2.event.subscribe", "v2.session.events"],
    ],
    ["docker-engine.yaml.gz", ["SystemEvents"]],
    ["redocly-3.2/sse.yaml", ["streamAbort", "streamMessages", "streamTicks"]],
    [
      "openai.yaml.gz",
      [
        "beta_createResponse_stream",
        "createChatCompletion_stream",
        "createImageEdit_stream",
        "createImage_stream",
        "createResponse_stream",
        "createSpeech_stream",
        "createTranscription_stream",
      ],
    ],
  ])("of %s are subscriptions", (file, names) => {
    expect(namesOf(file, "subscription")).toEqual(names)
  })

  test("stand beside the operation that answers at once, and ask for a stream", async () => {
    const input = { body: { model: "m", messages: [] } }
    const { type } = operationOf("openai.yaml.gz", "createChatCompletion")
    const plain = await prepareRequest(operationOf("openai.yaml.gz", "createChatCompletion"), input)
    const stream = await prepareRequest(
      operationOf("openai.yaml.gz", "createChatCompletion_stream"),
      input,
    )

    expect(type).toBe("mutation")
    expect(plain.headers).toMatchObject({ accept: "application/json" })
    expect(plain.body).toBe('{"model":"m","messages":[]}')
    expect(stream.headers).toMatchObject({ accept: "text/event-stream" })
    expect(stream.body).toBe('{"model":"m","messages":[],"stream":true}')
  })

  test("of speech are asked for by their format", async () => {
    const operation = operationOf("openai.yaml.gz", "createSpeech_stream")
    const { body } = await prepareRequest(operation, {
      body: { model: "m", input: "x", voice: "y" },
    })

    expect(body).toBe('{"model":"m","input":"x","voice":"y","stream_format":"sse"}')
  })

  test("of Kubernetes watch", async () => {
    const operation = operationOf("kubernetes-v2.json.gz", "listCoreV1NamespacedPod_stream")
    const { url, headers } = await prepareRequest(operation, { namespace: "default" })

    expect(url).toBe("https://api.test/api/v1/namespaces/default/pods?watch=true")
    expect(headers).toMatchObject({ accept: "application/json;stream=watch" })
  })

  test("leave items open where nothing is said about them", () => {
    expect(outputOf("redocly-3.2/sse.yaml", "streamTicks")).toEqual({})
    expect(outputOf("redocly-3.2/sse.yaml", "streamMessages")["$ref"]).toBe("#/$defs/Message")
  })
})
