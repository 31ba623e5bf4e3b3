import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { consequencesOf } from "../../../src/cli/trust/consequences.ts"
import { testIO } from "../support/run.ts"

async function consequences(name: string, text: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "operations-consequences-"))
  try {
    await writeFile(join(folder, name), text)
    return await consequencesOf(join(folder, name), testIO({ env: {} }))
  } finally {
    await rm(folder, { recursive: true })
  }
}

test("the consequences of opening a configuration are listed for every kind of source", async () => {
  const sources = {
    own: { scan: "./operations" },
    api: { openapi: "./api.yaml", baseUrl: "https://api.example.com", auth: "${env:TOKEN}" },
    bare: { openapi: "./other.yaml" },
    far: { remote: "https://hub.example.com" },
    line: { mcp: "npx some-server" },
    web: { mcp: "https://mcp.example.com/mcp" },
    program: { mcp: { command: "node", args: ["server.js"] }, env: { KEY: "${file:key.txt}" } },
    alone: { mcp: { command: "server" } },
    address: { mcp: { url: "https://mcp.example.com/other" } },
    off: { scan: "./off", disabled: true },
  }
  const lines = await consequences(
    "operations.config.json",
    JSON.stringify({ sources, middleware: ["./audit.mjs"] }),
  )
  expect(lines).toEqual([
    '"own" runs the modules in ./operations',
    '"api" reads ./api.yaml and calls https://api.example.com; sends it ${env:TOKEN}',
    '"bare" reads ./other.yaml and calls the servers it names',
    '"far" calls https://hub.example.com',
    '"line" runs: npx some-server',
    '"web" calls https://mcp.example.com/mcp',
    '"program" runs: node server.js; with KEY="${file:key.txt}"; sends it ${file:key.txt}',
    '"alone" runs: server',
    '"address" calls https://mcp.example.com/other',
    "Calls run the module ./audit.mjs",
  ])
})

test("the consequences of a configuration without sources, and of a script, are said", async () => {
  expect(await consequences("operations.config.json", `{ "sources": {} }`)).toEqual([
    "It has no sources.",
  ])
  expect(await consequences("operations.config.mjs", "throw new Error()")).toEqual([
    "It is a program, and runs with everything that you may do. Read it first.",
  ])
})

test("the consequences include everything that decides what a program does, and how it is served", async () => {
  const sources = {
    a: {
      mcp: {
        command: "node",
        args: ["server.js"],
        env: { NODE_OPTIONS: "--require ./evil.cjs", PASSWORD: "canary-1" },
        cwd: "./elsewhere",
        envFile: "./.env",
        inheritEnv: ["HOME"],
      },
    },
    all: { mcp: { command: ["npx", "tool"], inheritEnv: true } },
    other: { mcp: { serverUrl: "https://mcp.example.com/x" } },
  }
  const server = { port: 3999, cors: { origins: ["https://evil.example"] } }
  const lines = await consequences("operations.config.json", JSON.stringify({ sources, server }))
  expect(lines).toEqual([
    '"a" runs: node server.js; in ./elsewhere; with NODE_OPTIONS="--require ./evil.cjs", PASSWORD="***"; ' +
      "with the variables in ./.env; with HOME. " +
      'The variable "NODE_OPTIONS" changes which code the program runs, or whom it trusts.',
    '"all" runs: npx tool; with your whole environment',
    '"other" calls https://mcp.example.com/x',
    'Serving it uses port: 3999, cors: {"origins":["https://evil.example"]}',
  ])
})
