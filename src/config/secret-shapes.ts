// Headers and credentials: values that may be secrets, and should then be references.

import { isRecord } from "../internal/guards.ts"
import { isSecretName } from "../internal/secret-names.ts"
import { field, fields, listOf, recordOf, type Shape, text } from "./field-checks.ts"

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** A value, or a function in a script. */
const value = (isSecret: boolean): Shape =>
  field({ either: ["text", "function"] }, "A value, or a reference: ${env:NAME}.", {
    refers: true,
    secret: isSecret,
    refuse: (input) =>
      /[\r\n]/.test(input)
        ? "must be one line. Check for a line break at the end of the file or variable."
        : undefined,
  })

const plain = value(false)
const secret = value(true)
const token: Shape = { ...secret, isRequired: true }

/** Headers of requests, by name. */
export function headers(description: string): Shape {
  const record = recordOf(description, plain, (name) => {
    if (!HEADER_NAME.test(name)) return "is not a valid header name."
    return isSecretName(name, "header") ? secret : plain
  })
  return {
    schema: record.schema,
    check(input, keys, report) {
      // Only scripts can contain these: functions and `Headers` objects.
      if (typeof input === "function" || input instanceof Headers) return
      record.check(input, keys, report)
    },
  }
}

const KINDS: Readonly<Record<string, Shape>> = {
  bearer: kind("bearer", "Authorization: Bearer …", { token, prefix: text("Instead of Bearer.") }),
  apiKey: kind("apiKey", "A key, by default in the header X-API-Key.", {
    token,
    headerName: text("The header, or the parameter."),
    in: field({ oneOf: ["header", "query", "cookie"] }, "Where it goes."),
    prefix: text("A prefix of the value."),
  }),
  basic: kind("basic", "A user and a password.", {
    username: text("The user.", { refers: true }),
    password: secret,
    token: secret,
  }),
  clientCredentials: kind("clientCredentials", "OAuth 2 client credentials.", {
    clientId: field({ required: "text" }, "The client.", { refers: true }),
    clientSecret: token,
    tokenUrl: text("Where tokens are fetched.", { refers: true }),
    scopes: listOf("What tokens are for.", text("A scope.")),
    authMethod: field({ oneOf: ["basic", "body"] }, "Where the client sends its secret."),
  }),
}

function kind(type: string, description: string, members: Readonly<Record<string, Shape>>): Shape {
  return fields(description, { type: field({ required: { oneOf: [type] } }), ...members })
}

/** A credential: a secret, or an object that says how it is sent. */
export function credential(description: string): Shape {
  return {
    schema: {
      description: `${description} By reference: \${env:TOKEN}.`,
      anyOf: [field("text").schema, ...Object.values(KINDS).map(({ schema }) => schema)],
    },
    check(input, keys, report) {
      if (!isRecord(input)) return secret.check(input, keys, report)
      const { type } = input
      const known = typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
      if (known !== undefined) known.check(input, keys, report)
      else field({ oneOf: Object.keys(KINDS) }).check(type, [...keys, "type"], report)
    },
  }
}
