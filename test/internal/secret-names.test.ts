import { describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import { safeHeaders } from "../../src/http-client/secrets.ts"
import { redact, redactText } from "../../src/internal/redact.ts"
import { isSecretField, isSecretName } from "../../src/internal/secret-names.ts"
import type { NameKind } from "../../src/internal/secret-names.ts"

const KINDS: readonly NameKind[] = ["header", "query", "field", "setting", "text"]

/** Names of secrets, wherever they appear. */
const SECRET =
  `Authorization Proxy-Authorization Cookie Set-Cookie set-cookie2 X-API-Key x-goog-api-key apiKey api_key APIKEY
  apiKeys X-Auth-Token X-Vault-Token X-Amz-Security-Token access_token accessToken refreshToken id_token authtoken sessionToken
  XAuthToken token tokens accessTokens csrf-token x-jwt secret client_secret clientSecret secrets secret_key secretAccessKey
  AWS_SECRET_ACCESS_KEY aws_access_key_id accesskey private_key privateKey PRIVATEKEY signing-key Ocp-Apim-Subscription-Key
  x-functions-key password passwd pwd passphrase passcode db.password password2 newPassword userpassword credential
  credentials jwt`.split(/\s+/)

/** Names that say nothing secret, wherever they appear. */
const PLAIN =
  `max_tokens maxTokens prompt_tokens completion_tokens x-ratelimit-remaining-tokens x-ratelimit-limit-tokens
  page_token nextPageToken next_token continuationToken syncToken x-next-page-token cursor author authors authenticated
  www-authenticate token_type tokenUrl token_endpoint tokenExpiresAt token_count authorization_servers cookieName secretName
  tokenizer keyboard monkey compass passenger passport pinned description id name __proto__ constructor x-request-id etag
  content-type content-length retry-after location link title`.split(/\s+/)

/** Names that are secret in some places only. */
const SOMETIMES: Readonly<Record<string, readonly NameKind[]>> = {
  key: ["query", "setting"],
  sig: ["query"],
  auth: ["query", "field", "setting"],
  "Authentication-Info": ["header", "setting"],
  dpop: ["setting"],
  GITHUB_PAT: ["setting"],
  "X-Custom-Key": ["setting"],
  signature: ["header", "query", "field", "setting"],
  "X-Hub-Signature-256": ["header", "query", "field", "setting"],
  session: ["field"],
  sessionId: ["field"],
  "mcp-session-id": ["field"],
  pin: ["field"],
  pinCode: ["field"],
  cvv: ["field"],
  otp: ["field"],
  ssn: ["field"],
  DB_PASS: ["field", "setting"],
  STRIPE_KEY: ["setting"],
  "idempotency-key": [],
  primaryKey: ["setting"],
}

describe("isSecretName", () => {
  test.each(KINDS)("knows the names of secrets: %s", (kind) => {
    expect(SECRET.filter((name) => !isSecretName(name, kind))).toEqual([])
    expect(PLAIN.filter((name) => isSecretName(name, kind))).toEqual([])
  })

  test.each(Object.entries(SOMETIMES))("%s is secret in: %s", (name, kinds) => {
    expect(KINDS.filter((kind) => isSecretName(name, kind)).toSorted()).toEqual(kinds.toSorted())
  })

  test("takes time that grows with the length of a name only", () => {
    const name = "A".repeat(1_000_000)
    const started = process.cpuUsage().user
    expect(isSecretName(name, "field")).toBe(false)
    // A quadratic pattern would take hours.
    expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(20)
  })
})

test("isSecretField leaves counts and switches visible", () => {
  expect(isSecretField("tokens", 100)).toBe(false)
  expect(isSecretField("password", true)).toBe(false)
  expect(isSecretField("password", null)).toBe(false)
  expect(isSecretField("password", 1234)).toBe(true)
  expect(isSecretField("pin", 1234)).toBe(true)
})

describe("secret names", () => {
  test("are masked in details of errors", () => {
    const headers = Object.fromEntries(SECRET.map((name) => [name, "s3cr3t"]))
    const shown = Object.fromEntries(PLAIN.map((name) => [name, "shown"]))
    const json = new CallError("X", "m", { details: { headers, shown } }).toJSON()
    expect(JSON.stringify(json)).not.toContain("s3cr3t")
    expect(redact(shown)).toEqual(shown)
  })

  test("are masked in texts", () => {
    const shown = SECRET.filter((name) =>
      redactText(`error: ${name}=s3cr3t and "${name}": "s3cr3t", done`).includes("s3cr3t"),
    )
    expect(shown).toEqual([])
    for (const text of ["author: ada", "max_tokens=5", "Bad session: it ended"]) {
      expect(redactText(text)).toBe(text)
    }
  })

  test("are not among the headers that callers see", () => {
    const headers = new Headers({
      "x-vault-token": "a",
      "x-goog-api-key": "b",
      "x-next-page-token": "c",
    })
    expect(safeHeaders(headers, [])).toEqual({ "x-next-page-token": "c" })
  })
})
