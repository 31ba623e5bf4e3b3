import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/core/errors.ts"
import { createTokenSource } from "../../../src/http-client/oauth.ts"
import { selectAuth } from "../../../src/sources/openapi/auth.ts"
import type { AuthConfig } from "../../../src/sources/openapi/auth.ts"
import type { SelectedAuth } from "../../../src/sources/openapi/auth/apply.ts"
import { createTokenStore } from "../../../src/sources/openapi/auth/secrets.ts"
import type { AuthContext, TokenRequest } from "../../../src/sources/openapi/auth/secrets.ts"
import type { Credential, Secret } from "../../../src/sources/openapi/config.ts"
import type { SecurityRequirement, SecurityScheme } from "../../../src/sources/openapi/model.ts"

const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  header: { type: "apiKey", in: "header", name: "X-API-KEY" },
  query: { type: "apiKey", in: "query", name: "apiKey" },
  cookie: { type: "apiKey", in: "cookie", name: "api_key" },
  authorization: { type: "apiKey", in: "header", name: "Authorization" },
  basic: { type: "http", scheme: "Basic" },
  bearer: { type: "http", scheme: "bearer" },
  digest: { type: "http", scheme: "Digest" },
  oauth2: { type: "oauth2", tokenUrl: "/oauth/token" },
  elsewhere: { type: "oauth2", tokenUrl: "https://attacker.test/token" },
  oidc: { type: "openIdConnect" },
  tls: { type: "mutualTLS" },
  odd: { type: "unknown", declared: "hmac" },
}

const CONTEXT: AuthContext = { operationId: "api.list", origin: "https://api.test" }

/** Alternatives by names: `["a b", "c"]` is a and b together, or c. */
function security(...alternatives: readonly string[]): SecurityRequirement[] {
  return alternatives.map(
    (names) =>
      new Map(
        names
          .split(" ")
          .filter((name) => name !== "")
          .map((name) => [
            name,
            {
              scheme: SCHEMES[name] as SecurityScheme,
              scopes: name === "oauth2" ? ["b", "a"] : [],
            },
          ]),
      ),
  )
}

async function select(
  alternatives: readonly string[],
  config: AuthConfig,
  context: Partial<AuthContext> = {},
): Promise<SelectedAuth> {
  return await selectAuth(security(...alternatives), config, { ...CONTEXT, ...context })
}

/** What is sent, in one line. */
async function sent(alternatives: readonly string[], config: AuthConfig): Promise<string> {
  const { headers, query, cookies } = (await select(alternatives, config)).applied
  return [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...query.map(([name, value]) => `?${name}=${value}`),
    ...cookies.map(([name, value]) => `cookie ${name}=${value}`),
  ].join(" | ")
}

async function failure(work: Promise<unknown>): Promise<CallError> {
  return await work.then(
    () => {
      throw new Error("It was accepted.")
    },
    (thrown: CallError) => thrown,
  )
}

const BASIC = "Basic YWRhOnPDqWNyZXQ="

describe("selectAuth: where a credential goes", () => {
  test.each<[string, AuthConfig["auth"], string]>([
    ["header", "k", "x-api-key: k"],
    ["query", "k", "?apiKey=k"],
    ["cookie", "k", "cookie api_key=k"],
    ["authorization", "k", "authorization: k"],
    ["bearer", "k", "authorization: Bearer k"],
    ["oauth2", "k", "authorization: Bearer k"],
    ["oidc", "k", "authorization: Bearer k"],
    ["basic", "ada:sécret", `authorization: ${BASIC}`],
    ["basic", "key", "authorization: Basic a2V5Og=="],
    ["basic", BASIC, `authorization: ${BASIC}`],
    ["basic", BASIC.replace("Basic ", ""), `authorization: ${BASIC}`],
    ["basic", BASIC.replace("Basic ", "basic  "), `authorization: ${BASIC}`],
    // Base64, but not of a user and a password: a key, which takes the place of the user.
    ["basic", "c2VjcmV0", "authorization: Basic YzJWamNtVjA6"],
    ["basic", "abcdefgh", "authorization: Basic YWJjZGVmZ2g6"],
    ["digest", "abc", "authorization: Digest abc"],
    ["digest", 'Digest username="a", nonce="b"', 'authorization: Digest username="a", nonce="b"'],
    ["digest", 'HMAC key="a"', 'authorization: HMAC key="a"'],
    ["bearer", "Bearer k", "authorization: Bearer k"],
    ["bearer", () => "k", "authorization: Bearer k"],
    ["bearer", () => Promise.resolve("k"), "authorization: Bearer k"],
    ["bearer", { type: "bearer", token: "k" }, "authorization: Bearer k"],
    ["bearer", { type: "bearer", token: "k", prefix: "Bot " }, "authorization: Bot k"],
    ["authorization", { type: "bearer", token: "k", prefix: "Bot " }, "authorization: Bot k"],
    ["authorization", { type: "bearer", token: "k" }, "authorization: Bearer k"],
    ["header", { type: "apiKey", token: "k" }, "x-api-key: k"],
    ["header", { type: "apiKey", token: "k", prefix: "Key " }, "x-api-key: Key k"],
    ["query", { type: "apiKey", token: "k" }, "?apiKey=k"],
    [
      "basic",
      { type: "basic", username: "ada", password: () => "sécret" },
      `authorization: ${BASIC}`,
    ],
    ["basic", { type: "basic", token: "ada:sécret" }, `authorization: ${BASIC}`],
    // A scheme that the credential does not fit: the user's word counts.
    ["header", { type: "bearer", token: "k" }, "authorization: Bearer k"],
    ["bearer", { type: "apiKey", token: "k", headerName: "X-Token" }, "x-token: k"],
    ["header", { type: "apiKey", token: "k", in: "query", headerName: "key" }, "?key=k"],
    ["header", { type: "apiKey", token: "k", headerName: "x-api-key" }, "x-api-key: k"],
    ["header", { type: "basic", token: "ada:sécret" }, `authorization: ${BASIC}`],
    ["basic", { type: "apiKey", token: "k" }, "x-api-key: k"],
    ["odd", { type: "bearer", token: "k", prefix: "HMAC " }, "authorization: HMAC k"],
  ])("%s with %j", async (name, auth, expected) => {
    expect(await sent([name], { auth })).toBe(expected)
  })

  test("by name, a credential does what its scheme says", async () => {
    const credentials = {
      header: "h",
      query: { type: "apiKey", token: "q" },
      cookie: () => "c",
    } as const

    expect(await sent(["header query cookie"], { credentials })).toBe(
      "x-api-key: h | ?apiKey=q | cookie api_key=c",
    )
  })

  test.each<[string, Credential | Secret, string]>([
    ["header", { type: "basic", token: "ada:sécret" }, `authorization: ${BASIC}`],
    ["basic", { type: "bearer", token: "k" }, "authorization: Bearer k"],
    ["bearer", { type: "basic", token: "ada:sécret" }, `authorization: ${BASIC}`],
    ["odd", "k", "authorization: Bearer k"],
    ["odd", { type: "apiKey", token: "k" }, "x-api-key: k"],
    ["tls", "k", ""],
  ])(
    "by name, one that does not fit its scheme goes its own way: %s with %j",
    async (name, credential, expected) => {
      expect(await sent([name], { credentials: { [name]: credential } })).toBe(expected)
    },
  )

  test("three credentials together, two of them in one header", async () => {
    const credentials = { header: "h", basic: "ada:sécret", oauth2: "t" }

    expect(await sent(["header basic oauth2"], { credentials })).toBe(
      `x-api-key: h | authorization: ${BASIC}, Bearer t`,
    )
  })
})

describe("selectAuth: which one is chosen", () => {
  test.each<[readonly string[], AuthConfig, string]>([
    // Nothing is needed, or nothing is there.
    [[], { auth: "k", credentials: { header: "h" } }, ""],
    [[""], { auth: undefined }, ""],
    [["header"], {}, ""],
    [["header"], { credentials: {} }, ""],
    // One of several.
    [["oauth2", "header"], { credentials: { header: "h" } }, "x-api-key: h"],
    [
      ["oauth2", "header"],
      { credentials: { header: "h", oauth2: "t" } },
      "authorization: Bearer t",
    ],
    [
      ["oauth2 header", "bearer"],
      { credentials: { header: "h", bearer: "t" } },
      "authorization: Bearer t",
    ],
    [
      ["oauth2 header", "bearer"],
      { credentials: { header: "h", oauth2: "t" } },
      "authorization: Bearer t | x-api-key: h",
    ],
    // Optional.
    [["", "header"], { credentials: { header: "h" } }, "x-api-key: h"],
    [["", "header"], { credentials: { bearer: "t" } }, ""],
    [["header", ""], {}, ""],
    // Named ones come first, and complete each other with the one for everything.
    [["header", "query"], { auth: "k", credentials: { query: "q" } }, "?apiKey=q"],
    [["header query"], { auth: "k", credentials: { query: "q" } }, "x-api-key: k | ?apiKey=q"],
    // A bare secret is a token rather than a user and a password.
    [["basic", "bearer"], { auth: "k" }, "authorization: Bearer k"],
    // Certificates are the connection's business.
    [["tls"], { auth: "k" }, ""],
    [["tls bearer"], { auth: "k" }, "authorization: Bearer k"],
    [["tls", "bearer"], { auth: "k" }, "authorization: Bearer k"],
  ])("%j with %j", async (alternatives, config, expected) => {
    expect(await sent(alternatives, config)).toBe(expected)
  })

  test("says which credential is missing", async () => {
    const error = await failure(
      select(["header query", "oauth2"], { credentials: { header: "h" } }),
    )

    expect(error).toMatchObject({ code: "UNAUTHENTICATED", operationId: "api.list" })
    expect(error.message).toContain('"header" with "query" or "oauth2", but there is only "header"')
  })

  test("never takes one secret for two", async () => {
    const error = await failure(select(["header query"], { auth: "k" }))
    expect(error.code).toBe("UNAUTHENTICATED")
  })

  test("does not find credentials on Object.prototype", async () => {
    const odd: SecurityRequirement[] = ["__proto__", "constructor", "toString"].map(
      (name) => new Map([[name, { scheme: SCHEMES["header"] as SecurityScheme, scopes: [] }]]),
    )
    const error = await failure(selectAuth(odd, { credentials: { other: "k" } }, CONTEXT))
    expect(error.code).toBe("UNAUTHENTICATED")

    const own = JSON.parse('{"__proto__":"k"}') as Record<string, string>
    const { applied } = await selectAuth(odd, { credentials: own }, CONTEXT)
    expect(applied.headers).toEqual({ "x-api-key": "k" })
  })

  test("sends the one credential where the document says nothing", async () => {
    const undeclared = { isUndeclared: true }
    const plain = await select([], { auth: "k" }, undeclared)
    const basic = await select([], { auth: { type: "basic", token: "ada:sécret" } }, undeclared)
    const declared = await select(["header"], { auth: "k" }, undeclared)
    const none = await select(["header"], { credentials: { other: "k" } }, undeclared)

    expect(plain.applied.headers).toEqual({ authorization: "Bearer k" })
    expect(basic.applied.headers).toEqual({ authorization: BASIC })
    expect(declared.applied.headers).toEqual({ "x-api-key": "k" })
    expect(none.applied.headers).toEqual({})
  })
})

describe("selectAuth: secrets", () => {
  test("are asked for at each call, and only those that are needed", async () => {
    let asked = 0
    const credentials = {
      header: () => `k${++asked}`,
      query: () => {
        throw new Error("Nobody needs this.")
      },
    }
    expect(await sent(["header"], { credentials })).toBe("x-api-key: k1")
    expect(await sent(["header"], { credentials })).toBe("x-api-key: k2")
  })

  test("are all listed, in every form in which they are sent", async () => {
    const { secrets } = await select(["header basic"], {
      credentials: {
        header: "key-1",
        basic: { type: "basic", username: "ada", password: "sécret" },
      },
    })
    expect(secrets.toSorted()).toEqual(["YWRhOnPDqWNyZXQ=", "key-1", "sécret"].toSorted())
  })

  test.each<[string, () => string | Promise<string>]>([
    [
      "throws",
      () => {
        throw new Error("canary-1")
      },
    ],
    ["rejects", () => Promise.reject(new Error("canary-1"))],
    ["rejects with a text", () => Promise.reject("canary-1")],
    ["gives nothing", () => undefined as never],
    ["gives an empty text", () => ""],
    ["gives an object", () => ({ token: "canary-1" }) as never],
  ])("end in UNAUTHENTICATED when the function %s, without a word of it", async (_name, token) => {
    const error = await failure(select(["bearer"], { auth: token }))

    expect(error.code).toBe("UNAUTHENTICATED")
    expect(inspect(error, { depth: 9 }).replace(/\n\s+at .*/g, "")).not.toContain("canary-1")
    expect(JSON.stringify(error)).not.toContain("canary-1")
  })

  test.each<[string, string]>([
    ["header", "canary\r\nX-Evil: 1"],
    ["header", "canary\n"],
    ["header", "canary\u0000"],
    ["header", "canary😀"],
    ["bearer", "canary\r\n"],
    ["query", "canary\r\n"],
    ["cookie", "canary; admin=1"],
    ["cookie", "canary\r\n"],
    ["basic", "canary:a\r\nb"],
  ])("in %s that would break out are refused and not shown: %j", async (name, value) => {
    const error = await failure(select([name], { credentials: { [name]: value } }))

    expect(error.code).toBe("VALIDATION_ERROR")
    expect(`${inspect(error)}${JSON.stringify(error)}`).not.toContain("canary")
  })

  test.each<SecurityScheme>([
    { type: "apiKey", in: "header", name: "Host" },
    { type: "apiKey", in: "header", name: "Content-Length" },
    { type: "apiKey", in: "header", name: "a\r\nb" },
    { type: "apiKey", in: "header", name: "" },
    { type: "apiKey", in: "cookie", name: "a=b;c" },
    { type: "apiKey", in: "query", name: "" },
  ])("do not go where no credential can be: %j", async (scheme) => {
    const needed: SecurityRequirement[] = [new Map([["a", { scheme, scopes: [] }]])]
    const error = await failure(selectAuth(needed, { auth: "k" }, CONTEXT))
    expect(error.code).toBe("VALIDATION_ERROR")
  })

  test("do not hold up a call that is aborted", async () => {
    const controller = new AbortController()
    const selecting = select(
      ["bearer"],
      { auth: () => new Promise<string>(() => {}) },
      { signal: controller.signal },
    )
    controller.abort()
    expect(await failure(selecting)).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
  })

  test("are not asked for when the call is over already", async () => {
    let asked = 0
    const timeout = new CallError("TIMEOUT", "Too late.")
    for (const [signal, code] of [
      [AbortSignal.abort(new Error("x")), "ABORTED"],
      [AbortSignal.abort(timeout), "TIMEOUT"],
    ] as const) {
      const error = await failure(select(["bearer"], { auth: () => `${++asked}` }, { signal }))
      expect(error.code).toBe(code)
    }
    expect(asked).toBe(0)
  })

  test("of basic authentication may be a key without a password, but not nothing", async () => {
    const key = await select(["basic"], { auth: { type: "basic", username: "key-1" } })
    expect(key.applied.headers).toEqual({ authorization: "Basic a2V5LTE6" })
    expect(key.secrets).toContain("key-1")

    const error = await failure(select(["basic"], { auth: { type: "basic" } }))
    expect(error.message).toContain('give "username" and "password"')
  })

  test("a user name with a colon is refused", async () => {
    const auth = { type: "basic", username: "a:b", password: "p" } as const
    expect((await failure(select(["basic"], { auth }))).code).toBe("VALIDATION_ERROR")
  })
})

describe("selectAuth: client credentials", () => {
  const client = {
    type: "clientCredentials",
    clientId: "id",
    clientSecret: () => "s3cret",
  } as const

  /** A token endpoint that notes what it is asked. */
  function tokenServer(): {
    asked: TokenRequest[]
    forgotten: string[]
    context: Partial<AuthContext>
  } {
    const asked: TokenRequest[] = []
    const forgotten: string[] = []
    const tokens = createTokenStore((request) => {
      asked.push(request)
      return {
        token: () => Promise.resolve(`token-${asked.length}`),
        forget: (token) => void forgotten.push(token),
      }
    })
    return { asked, forgotten, context: { tokens } }
  }

  test("fetch a token at the document's address, for the scopes of the operation", async () => {
    const { asked, forgotten, context } = tokenServer()

    const { applied, secrets, forget } = await select(["oauth2"], { auth: client }, context)
    await select(["oauth2"], { credentials: { oauth2: client } }, context)
    forget()

    expect(applied.headers).toEqual({ authorization: "Bearer token-1" })
    expect(secrets.toSorted()).toEqual(["s3cret", "token-1"])
    expect(asked).toEqual([
      {
        tokenUrl: "https://api.test/oauth/token",
        clientId: "id",
        clientSecret: "s3cret",
        scopes: ["a", "b"],
        authMethod: "basic",
      },
    ])
    expect(forgotten).toEqual(["token-1"])
  })

  test("never send the secret to an address that only the document names", async () => {
    const { asked, context } = tokenServer()

    const error = await failure(select(["elsewhere"], { auth: client }, context))
    expect(error.code).toBe("EGRESS_BLOCKED")
    expect(error.message).toContain("https://attacker.test")
    expect(error.message).toContain('"allowedOrigins"')
    expect(asked).toEqual([])

    const allowedOrigins = ["https://attacker.test/"]
    await select(["elsewhere"], { auth: client }, { ...context, allowedOrigins })
    expect(asked[0]?.tokenUrl).toBe("https://attacker.test/token")
  })

  test("go to the user's own address, with the user's scopes", async () => {
    const { asked, context } = tokenServer()
    const auth = {
      ...client,
      tokenUrl: "https://login.test/token",
      scopes: ["x"],
      authMethod: "body",
    } as const

    await select(["bearer"], { auth }, context)
    await select(["elsewhere"], { auth }, context)

    expect(asked).toMatchObject([
      { tokenUrl: "https://login.test/token", scopes: ["x"], authMethod: "body" },
    ])
  })

  test.each(["ftp://login.test/", "/token", "https://u:p@login.test/", "::"])(
    "refuse the token address %s",
    async (tokenUrl) => {
      const { context } = tokenServer()
      const error = await failure(select(["oauth2"], { auth: { ...client, tokenUrl } }, context))
      expect(error.code).toBe("VALIDATION_ERROR")
    },
  )

  test("are fetched from a real server once, and again after they were refused", async () => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => (body += String(chunk)))
      request.on("end", () => {
        bodies.push(body)
        response.setHeader("content-type", "application/json")
        const token = { access_token: `t${bodies.length}`, token_type: "bearer", expires_in: 3600 }
        response.end(JSON.stringify(token))
      })
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const tokens = createTokenStore((request) => createTokenSource({ ...request, fetch }))
      const context = { origin, tokens }

      const [first] = await Promise.all(
        [1, 2, 3].map(() => select(["oauth2"], { auth: client }, context)),
      )
      first?.forget()
      const second = await select(["oauth2"], { auth: client }, context)

      expect(first?.applied.headers).toEqual({ authorization: "Bearer t1" })
      expect(second.applied.headers).toEqual({ authorization: "Bearer t2" })
      expect(bodies).toHaveLength(2)
      expect(bodies[0]).toContain("scope=a+b")
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test("keep a bounded number of sources", async () => {
    let made = 0
    const tokens = createTokenStore(() => {
      made++
      return { token: () => Promise.resolve("t"), forget: () => {} }
    })
    for (let at = 0; at < 1200; at++) {
      await select(["oauth2"], { auth: { ...client, clientSecret: `s${at}` } }, { tokens })
      // In use all the time: never the one that makes room.
      await select(["oauth2"], { auth: { ...client, clientSecret: "s0" } }, { tokens })
    }
    await select(["oauth2"], { auth: { ...client, clientSecret: "s1199" } }, { tokens })
    await select(["oauth2"], { auth: { ...client, clientSecret: "s1" } }, { tokens })
    expect(made).toBe(1201)
  })

  test("need something to fetch with", async () => {
    const error = await failure(select(["oauth2"], { auth: client }))
    expect(error.message).toContain("There is no token provider to fetch")
  })

  test("need an address from somewhere", async () => {
    const { context } = tokenServer()
    const error = await failure(select(["oidc"], { auth: client }, context))
    expect(error.message).toContain('Add "tokenUrl"')
  })

  test("resolve a relative address against the document's own", async () => {
    const { asked, context } = tokenServer()
    const documentUrl = "https://api.test/v1/openapi.json"

    await select(["oauth2"], { auth: client }, { ...context, documentUrl })
    await failure(
      select(["oauth2"], { auth: client }, { ...context, documentUrl: "https://docs.test/a.json" }),
    )

    expect(asked.map(({ tokenUrl }) => tokenUrl)).toEqual(["https://api.test/oauth/token"])
  })
})
