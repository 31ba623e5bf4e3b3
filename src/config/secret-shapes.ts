// Headers and credentials: values that may be secrets, and should then be references.

import { isRecord } from "../internal/guards.ts"
import { isSecretName } from "../internal/secret-names.ts"
import {
  fields,
  type IssueReporter,
  type Keys,
  listOf,
  oneOf,
  recordOf,
  type Shape,
  text,
} from "./field-checks.ts"

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const value = (secret: boolean): Shape =>
  text("A value, or a reference: ${env:NAME}.", {
    refers: true,
    secret,
    refuse: (input) =>
      /[\r\n]/.test(input)
        ? "must be one line. Check for a line break at the end of the file or variable."
        : undefined,
  })

const plain = value(false)
const secret = value(true)

/** Headers of requests, by name. */
export function headers(description: string): Shape {
  const record = recordOf(description, orFunction(plain), (name) =>
    HEADER_NAME.test(name) ? undefined : "is not a valid header name.",
  )
  return {
    schema: record.schema,
    check(input, keys, report) {
      // Only scripts can contain these: functions and `Headers` objects.
      if (typeof input === "function" || input instanceof Headers) return
      record.check(input, keys, report)
      if (!isRecord(input)) return
      for (const [name, one] of Object.entries(input)) {
        if (isSecretName(name, "header")) secret.check(one, [...keys, name], warningsOnly(report))
      }
    },
  }
}

function orFunction(shape: Shape): Shape {
  return {
    schema: shape.schema,
    check(input, keys, report) {
      if (typeof input !== "function") shape.check(input, keys, report)
    },
  }
}

/** Reports warnings only: the errors have been reported already. */
function warningsOnly(report: IssueReporter): IssueReporter {
  return { error: () => undefined, warn: (keys, message) => report.warn(keys, message) }
}

const plainText = (description: string): Shape => text(description, { refers: true })

const KINDS: Readonly<Record<string, Shape>> = {
  bearer: fields(
    "Authorization: Bearer …",
    { type: oneOf("", ["bearer"]), token: secret, prefix: text("Instead of Bearer.") },
    { required: ["token"] },
  ),
  apiKey: fields(
    "A key, by default in the header X-API-Key.",
    {
      type: oneOf("", ["apiKey"]),
      token: secret,
      headerName: text("The header, or the parameter."),
      in: oneOf("Where it goes.", ["header", "query", "cookie"]),
      prefix: text("A prefix of the value."),
    },
    { required: ["token"] },
  ),
  basic: fields("A user and a password.", {
    type: oneOf("", ["basic"]),
    username: plainText("The user."),
    password: secret,
    token: secret,
  }),
  clientCredentials: fields(
    "OAuth 2 client credentials.",
    {
      type: oneOf("", ["clientCredentials"]),
      clientId: plainText("The client."),
      clientSecret: secret,
      tokenUrl: plainText("Where tokens are fetched."),
      scopes: listOf("What tokens are for.", text("A scope.")),
      authMethod: oneOf("Where the client sends its secret.", ["basic", "body"]),
    },
    { required: ["clientId", "clientSecret"] },
  ),
}

/** A credential: a secret, or an object that says how it is sent. */
export function credential(description: string): Shape {
  return {
    schema: {
      description: `${description} By reference: \${env:TOKEN}.`,
      anyOf: [{ type: "string", minLength: 1 }, ...Object.values(KINDS).map(withType)],
    },
    check(input, keys, report) {
      if (isRecord(input)) checkKind(input, keys, report)
      else secret.check(input, keys, report)
    },
  }
}

function withType(shape: Shape): Shape["schema"] {
  const required = (shape.schema["required"] as readonly string[] | undefined) ?? []
  return { ...shape.schema, required: ["type", ...required] }
}

function checkKind(
  input: Readonly<Record<string, unknown>>,
  keys: Keys,
  report: IssueReporter,
): void {
  const { type } = input
  const shape = typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (shape !== undefined) return shape.check(input, keys, report)
  oneOf("", Object.keys(KINDS)).check(type, [...keys, "type"], report)
}
