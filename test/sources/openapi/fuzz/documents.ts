import { statSync } from "node:fs"
import { corpusEntries, corpusObject, corpusPath } from "../corpus.ts"
import { exampleFiles, exampleText } from "../oas-examples.ts"
import { slicesOf } from "./slice.ts"

/** Characters of a document that is small enough to be changed thousands of times. */
const MAX_LENGTH = 30_000
/** Parts that are taken of a large document. */
const SLICES = 10

/** Documents to make mutants of, by name, as JSON text; those of the corpus where it is there. */
export function fuzzDocuments(): Array<readonly [string, string]> {
  const real = corpusEntries()
    .filter(({ file }) => isSmall(file))
    .map(({ file }) => [file, JSON.stringify(corpusObject(file))] as const)
  const examples = exampleFiles("json").map((file) => [file, exampleText(file)] as const)
  const own = Object.entries(OWN).map(([name, value]) => [name, JSON.stringify(value)] as const)
  return [...real, ...examples, ...own].filter(([, text]) => text.length <= MAX_LENGTH)
}

/** Parts of the large documents as well; reading them takes some seconds. */
export function allFuzzDocuments(): Array<readonly [string, string]> {
  const slices = corpusEntries()
    .filter(({ file }) => !isSmall(file))
    .flatMap(({ file }) =>
      slicesOf(corpusObject(file), SLICES).map(
        (slice, index) => [`${file} ${index}`, JSON.stringify(slice)] as const,
      ),
    )
  return [...fuzzDocuments(), ...slices.filter(([, text]) => text.length <= MAX_LENGTH)]
}

function isSmall(file: string): boolean {
  return !file.endsWith(".gz") && statSync(corpusPath(file)).size <= MAX_LENGTH
}

const item = {
  type: "object",
  properties: {
    id: { type: "string", readOnly: true },
    next: { $ref: "#/components/schemas/Item" },
  },
}

/** What no small document has all of: 3.2, streams, files, styles and credentials. */
const OWN: Readonly<Record<string, object>> = {
  "3.2": {
    openapi: "3.2.0",
    $self: "https://example.com/openapi.json",
    info: { title: "All of 3.2", version: "1" },
    servers: [
      {
        url: "https://{region}.example.com/v1",
        variables: { region: { default: "eu", enum: ["eu", "us"] } },
      },
    ],
    security: [{ key: [] }, { token: ["read"] }, {}],
    paths: {
      "/items/{id}.json": {
        parameters: [
          {
            name: "id",
            in: "path",
            required: true,
            style: "label",
            explode: true,
            schema: { type: "array", items: { type: "string" } },
          },
          { $ref: "#/components/parameters/Deep" },
        ],
        get: {
          operationId: "item.get",
          responses: {
            "200": {
              description: "",
              content: {
                "application/json": { schema: { $ref: "#/components/schemas/Item" } },
                "text/event-stream": {
                  itemSchema: {
                    type: "object",
                    properties: { data: { type: "string" }, event: { const: "tick" } },
                  },
                },
              },
            },
            "4XX": { $ref: "#/components/responses/Wrong" },
          },
        },
        query: {
          operationId: "items/search",
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  properties: { stream: { type: "boolean" }, id: { type: "string" } },
                },
              },
            },
          },
          responses: {
            default: {
              description: "",
              content: {
                "application/x-ndjson": { itemSchema: { $ref: "#/components/schemas/Item" } },
              },
            },
          },
        },
        additionalOperations: { PURGE: { responses: { "204": { description: "" } } } },
      },
      "/upload#form": {
        servers: [{ url: "https://uploads.example.com" }],
        post: {
          security: [],
          parameters: [
            { name: "X-List", in: "header", schema: { type: "array", items: { type: "integer" } } },
            {
              name: "c",
              in: "cookie",
              style: "cookie",
              schema: { type: "string", pattern: "^[a-z]+$" },
            },
            {
              name: "filter",
              in: "query",
              content: { "application/json": { schema: { type: "object" } } },
            },
            {
              name: "raw",
              in: "querystring",
              content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } },
            },
          ],
          requestBody: {
            required: true,
            content: {
              "multipart/form-data": {
                schema: {
                  type: "object",
                  required: ["file"],
                  properties: {
                    file: { type: "string", format: "binary" },
                    meta: { $ref: "#/components/schemas/Item" },
                  },
                },
                encoding: {
                  meta: {
                    contentType: "application/json",
                    headers: { "X-A": { schema: { type: "string" } } },
                  },
                },
              },
              "application/octet-stream": {},
            },
          },
          responses: {
            "201": {
              description: "",
              headers: { Link: { schema: { type: "string" } } },
              content: { "image/png": {} },
            },
            "202": {
              description: "",
              content: {
                "application/vnd.api+json": {
                  schema: { anyOf: [{ type: "null" }, { $ref: "#/components/schemas/Item" }] },
                },
              },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        Item: item,
        Either: {
          oneOf: [{ $ref: "#/components/schemas/Item" }, { type: "string", nullable: true }],
          discriminator: { propertyName: "kind", mapping: { item: "#/components/schemas/Item" } },
        },
      },
      parameters: {
        Deep: {
          name: "deep",
          in: "query",
          style: "deepObject",
          explode: true,
          schema: { $ref: "#/components/schemas/Either" },
        },
      },
      responses: {
        Wrong: {
          description: "Wrong",
          content: {
            "application/problem+json": {
              schema: { type: "object", properties: { title: { type: "string" } } },
            },
          },
        },
      },
      securitySchemes: {
        key: { type: "apiKey", in: "query", name: "key" },
        token: {
          type: "oauth2",
          flows: {
            clientCredentials: { tokenUrl: "https://example.com/token", scopes: { read: "Read" } },
          },
        },
      },
    },
  },
  "2.0": {
    swagger: "2.0",
    info: { title: "All of 2.0", version: "1" },
    host: "example.com",
    basePath: "/v1",
    schemes: ["https", "http"],
    consumes: ["application/json", "multipart/form-data"],
    produces: ["application/json", "application/json;stream=watch"],
    securityDefinitions: {
      basic: { type: "basic" },
      key: { type: "apiKey", in: "header", name: "X-Key" },
    },
    security: [{ basic: [] }],
    paths: {
      "/things/{id}": {
        get: {
          operationId: "watch",
          parameters: [
            { name: "id", in: "path", required: true, type: "integer" },
            { name: "watch", in: "query", type: "boolean" },
            {
              name: "tags",
              in: "query",
              type: "array",
              items: { type: "string" },
              collectionFormat: "pipes",
            },
            { name: "id", in: "query", type: "string" },
          ],
          responses: { "200": { description: "", schema: { $ref: "#/definitions/Thing" } } },
        },
        put: {
          operationId: "watch",
          parameters: [
            { $ref: "#/parameters/Body" },
            { name: "id", in: "path", required: true, type: "string" },
          ],
          responses: { default: { $ref: "#/responses/Wrong" } },
        },
        post: {
          consumes: ["multipart/form-data"],
          parameters: [
            { name: "file", in: "formData", type: "file" },
            { name: "note", in: "formData", type: "string", default: "x" },
            { name: "Content-Type", in: "header", type: "string", enum: ["multipart/form-data"] },
          ],
          responses: { "200": { description: "", schema: { type: "file" } } },
        },
      },
    },
    parameters: {
      Body: { name: "thing", in: "body", required: true, schema: { $ref: "#/definitions/Thing" } },
    },
    responses: { Wrong: { description: "", schema: { type: "object", "x-nullable": true } } },
    definitions: {
      Thing: {
        type: "object",
        required: ["name"],
        discriminator: "kind",
        properties: {
          name: { type: "string", minLength: 1 },
          size: { type: "number", minimum: 0, exclusiveMinimum: true },
          parts: { type: "array", items: { $ref: "#/definitions/Thing" } },
        },
      },
    },
  },
}
