import { describe, expect, test } from "vitest"
import { createMCPClient, MCPClientLoader } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig } from "../../../../src/from-mcp.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"
import { failure, open, until } from "../connection/support.ts"
import { hostile, json, recorder, scripted, shown } from "./support.ts"
import type { Answer } from "./support.ts"

const CANARY = "canary-7f3ad1e9"
const HEADER = `${CANARY}-header`
const QUERY = `${CANARY}-query`
const TOKEN = `${CANARY}-token`
const ENV = `${CANARY}-env`
const ARG = `${CANARY}-arg`

/** Says everything that it knows of its caller's credentials. */
const echoOf = (headers: object, url: string): string =>
  `denied for ${url} with ${JSON.stringify(headers)}`

function nested(value: unknown, depth: number): unknown {
  return depth === 0 ? value : { inner: nested(value, depth - 1) }
}

const WAYS: Record<string, Answer> = {
  "an error of the protocol": ({ headers, url, message }, response) =>
    json(response, 200, {
      jsonrpc: "2.0",
      id: message.id,
      error: {
        code: -32000,
        message: echoOf(headers, url),
        data: { headers, list: [headers, url], deep: nested({ headers, url }, 40) },
      },
    }),
  "an error of the protocol whose text says nothing": ({ headers, url, message }, response) =>
    json(response, 200, {
      jsonrpc: "2.0",
      id: message.id,
      error: { code: -32000, message: "no", data: { [JSON.stringify(headers)]: url } },
    }),
  "500 and a page": ({ headers, url }, response) => {
    response.writeHead(500, { "content-type": "text/html" })
    response.end(`<pre>${echoOf(headers, url)}</pre>`)
    return undefined
  },
  "400 and JSON": ({ headers, url }, response) =>
    json(response, 400, { error: { code: -32602, message: echoOf(headers, url) } }),
  "401 and a challenge": ({ headers, url }, response) => {
    const said = echoOf(headers, url).replaceAll('"', "'")
    response.writeHead(401, { "www-authenticate": `Bearer error="invalid", scope="${said}"` })
    response.end(said)
    return undefined
  },
  "403 and a scope": ({ headers, url }, response) => {
    const said = echoOf(headers, url).replaceAll('"', "'")
    response.writeHead(403, {
      "www-authenticate": `Bearer error="insufficient_scope", scope="${said}"`,
    })
    response.end(said)
    return undefined
  },
  "a redirect elsewhere": ({ headers, url }, response) => {
    const location = `http://127.0.0.1:1/x?${new URLSearchParams({ said: echoOf(headers, url) })}`
    response.writeHead(307, { location }).end()
    return undefined
  },
  "something that is not JSON": ({ headers, url }, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(`{ "result": ${echoOf(headers, url)}`)
    return undefined
  },
  "another type": ({ headers, url }, response) => {
    response.writeHead(200, { "content-type": `text/${HEADER}` })
    response.end(echoOf(headers, url))
    return undefined
  },
  "a cut connection": (_seen, response) => {
    response.destroy()
    return undefined
  },
}

function credentials(url: string): MCPClientConfig {
  return {
    url: `${url}?api_key=${QUERY}`,
    headers: { "X-Api-Key": HEADER, "X-Plain": `${CANARY}/+plain=` },
    authProvider: { token: async () => TOKEN },
  }
}

describe("secrets of a server over HTTP", () => {
  test.each(Object.keys(WAYS))("are in nothing that comes out of a call: %s", async (way) => {
    const log = recorder()
    await using remote = await hostile()
    await using server = open({ ...credentials(remote.url), logger: log.logger })
    await server.connection.connect()
    remote.answers["tools/call"] = WAYS[way] as Answer

    const error = await failure(server.call("echo", { text: "hi" }))

    expect(remote.seen.at(-1)?.headers["x-api-key"]).toBe(HEADER)
    expect(remote.seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`)
    expect(remote.seen.at(-1)?.url).toContain(QUERY)
    const out = [error, server.connection.status, server.events].map(shown).join("\n")
    expect(out).not.toContain(CANARY)
    expect(log.text()).not.toContain(CANARY)
  })

  test.each(Object.keys(WAYS))("are in nothing that comes out of loading: %s", async (way) => {
    const log = recorder()
    const answers = { initialize: WAYS[way] as Answer }
    await using remote = await hostile(answers)
    await using loader = new MCPClientLoader({ logger: log.logger })

    const loaded = await loader.load({ mcpServers: { remote: credentials(remote.url) } })

    expect(loaded.servers["remote"]?.status).toBe("failed")
    const reconnecting = await rejection(loader.reconnect("remote"))
    const out = [loaded.servers, loader.status(), reconnecting].map(shown).join("\n")
    expect(out).not.toContain(CANARY)
    expect(log.text()).not.toContain(CANARY)
  })

  test("are in nothing that is made of its tools", async () => {
    const log = recorder()
    await using remote = await hostile()
    const config = { ...credentials(remote.url), logger: log.logger }
    await using wrapper = await createMCPClient("remote", config)
    const registry = quietRegistry([], { logger: log.logger })
    wrapper.registerAll(registry)

    const result = await registry.execute("remote.echo", { text: "hi" })

    const made = [
      wrapper.tools,
      wrapper.status(),
      wrapper.warnings,
      wrapper.client.peer,
      registry.list(),
    ]
    expect([...made, result].map(shown).join("\n")).not.toContain(CANARY)
    expect(log.text()).not.toContain(CANARY)
  })

  test("are not shown by halves, where one begins like another", async () => {
    await using remote = await hostile()
    const headers = { "X-Short": "abcdefgh", "X-Long": "abcdefgh-and-the-rest" }
    await using server = open({ url: remote.url, headers })
    remote.answers["tools/call"] = WAYS["an error of the protocol"] as Answer

    expect(shown(await failure(server.call("echo")))).not.toContain("and-the-rest")
  })
})

describe("secrets of a server that is a process", () => {
  const TELL = `const all = JSON.stringify([process.env.SECRET_KEY, process.argv]);
    process.stderr.write("using " + all + "\\n");`

  test("are in nothing that comes out when it tells them", async () => {
    const log = recorder()
    const { command, args } = scripted(`${TELL}
      on["tools/call"] = () => { throw Object.assign(new Error("bad key " + all), { data: { all } }) }`)
    const config = { command, args: [...args, "--", "--api-key", ARG, `--token=${ARG}`] }
    const env = { SECRET_KEY: ENV }
    await using wrapper = await createMCPClient("child", { ...config, env, logger: log.logger })
    const registry = quietRegistry([], { logger: log.logger })
    wrapper.registerAll(registry)

    const error = await rejection(registry.execute("child.echo", {}))
    await until(() => wrapper.status().stderrTail !== undefined)

    const out = [error, wrapper.status(), wrapper.tools, registry.list()].map(shown).join("\n")
    expect(out).toContain("bad key")
    expect(`${out}\n${log.text()}`).not.toContain(ENV)
    expect(`${out}\n${log.text()}`).not.toContain(ARG)
  })

  test.each(["process.exit(3)", "setInterval(() => {}, 1e9)"])(
    "are in nothing that comes out when it tells them and does not start: %s",
    async (end) => {
      const log = recorder()
      const { command } = scripted("")
      await using loader = new MCPClientLoader({ logger: log.logger })

      const loaded = await loader.load({
        child: {
          command,
          args: ["-e", `${TELL} ${end}`, "--", "--api-key", ARG, `--token=${ARG}`],
          env: { SECRET_KEY: ENV },
          connectTimeout: 1500,
        },
      })

      const out = [loaded.servers, loader.status()].map(shown).join("\n")
      expect(out).toContain("using")
      expect(`${out}\n${log.text()}`).not.toContain(ENV)
      expect(`${out}\n${log.text()}`).not.toContain(ARG)
    },
  )

  test("are not in the error for a program that is not there", async () => {
    const server = open({ command: "/nowhere/prog", args: ["--key", ARG], env: { K: ENV } })
    const out = shown(await failure(server.connection.connect()))
    await server.connection.close()

    expect(out).not.toContain(ENV)
    expect(out).not.toContain(ARG)
  })
})
