import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { NatsRules } from "../../../src/cli/permissions/nats.ts"
import { tagOf } from "../../../src/internal/user-tag.ts"
import { run } from "../support/run.ts"
import type { Ran } from "../support/run.ts"

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "operations-permissions-"))
})

afterEach(() => rm(cwd, { recursive: true, force: true }))

function permissions(...more: string[]): Promise<Ran> {
  return run(["nats-permissions", ...more], { cwd })
}

async function rulesOf(...more: string[]): Promise<readonly NatsRules[]> {
  const { code, stdout, stderr } = await permissions(...more, "--json")
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return (JSON.parse(stdout) as { readonly users: readonly NatsRules[] }).users
}

const ALICE = ["--user", "alice=task.list,shop.*"]
const WORKER = ["--worker", "w1=task.*"]

describe("operations nats-permissions", () => {
  test("prints what nats-server takes, and nothing else, on standard output", async () => {
    const { code, stdout, stderr } = await permissions(...ALICE)

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout)
      .toBe(`# Written by \`operations nats-permissions\`: who may call and serve what under "operations".
# nats-server reads it where its configuration says: include "<this file>"
#
# Passwords come from the environment of nats-server, each in double quotes, plain or encrypted by
# \`nats server passwd\`: OPERATIONS_ALICE_PASSWORD='"…"'. Set them all: an empty one lets everybody in.

authorization {
  users: [
    # alice calls task.list, shop.*
    {
      user: "alice"
      password: $OPERATIONS_ALICE_PASSWORD
      permissions: {
        publish: {
          allow: [
            "operations.call.alice.any.task.list",
            "operations.call.alice.any.shop.>",
            "operations.to.alice.*.*.task.list",
            "operations.to.alice.*.*.shop.>",
            "operations.call.alice.all.services.*",
            "operations.ctl.alice.*.*",
            "operations.ask.alice",
          ]
        }
        subscribe: {
          allow: [
            "_INBOX_alice.>",
            "operations.news",
          ]
        }
      }
    }
  ]
}
`)
  })

  test("lets workers hear what they serve and what is for them, and answer", async () => {
    expect(await rulesOf(...WORKER, "--prefix", "p-2")).toEqual([
      {
        user: "w1",
        variable: "P_2_W1_PASSWORD",
        publish: ["p-2.news"],
        subscribe: [
          "p-2.call.*.any.task.> workers",
          "p-2.call.*.all.services.*",
          `p-2.to.*.${tagOf("w1")}.*.>`,
          `p-2.ctl.*.${tagOf("w1")}.*`,
          "p-2.ask.*",
        ],
        answers: true,
      },
    ])
    expect((await permissions(...WORKER)).stdout).toContain(
      'allow_responses: { max: -1, expires: "1m" }',
    )
    expect((await permissions(...ALICE)).stdout).not.toContain("allow_responses")
  })

  test("lets callers speak to a worker of what it serves only", async () => {
    const users = ["--user", "alice=task.list,shop.*,x.y", "--hub", "hub"]
    const workers = ["--worker", "w1=task.*,x.y.*", "--worker", "w2=shop.sell,shop.books.*,x.*"]
    const directed = ({ publish }: NatsRules): readonly string[] =>
      publish.filter((subject) => subject.includes(".to."))
    const [alice, hub] = await rulesOf(...users, ...workers)
    const [one, two] = [tagOf("w1"), tagOf("w2")]

    expect(directed(alice as NatsRules)).toEqual([
      `operations.to.alice.${one}.*.task.list`,
      `operations.to.alice.${two}.*.shop.sell`,
      `operations.to.alice.${two}.*.shop.books.>`,
      `operations.to.alice.${two}.*.x.y`,
    ])
    expect(directed(hub as NatsRules)).toEqual([
      `operations.to.hub.${one}.*.task.>`,
      `operations.to.hub.${one}.*.x.y.>`,
      `operations.to.hub.${two}.*.shop.sell`,
      `operations.to.hub.${two}.*.shop.books.>`,
      `operations.to.hub.${two}.*.x.>`,
    ])
    const [wide] = await rulesOf("--user", "alice=a.b.c,a.*", "--worker", "w1=*")
    expect(directed(wide as NatsRules)).toEqual([
      `operations.to.alice.${one}.*.a.b.c`,
      `operations.to.alice.${one}.*.a.>`,
    ])
    const [none] = await rulesOf("--user", "alice=a.bc", "--worker", "w1=a.b.*,a.b")
    expect(directed(none as NatsRules)).toEqual([])
  })

  test("lets a hub call everything, or what is said, under its own name", async () => {
    const [all, some] = await rulesOf("--hub", "hub", "--hub", "little=shop.*")

    expect(all?.publish).toEqual([
      "operations.call.hub.any.>",
      "operations.to.hub.*.*.>",
      "operations.call.hub.all.services.*",
      "operations.ctl.hub.*.*",
      "operations.ask.hub",
    ])
    expect(some?.publish).toContain("operations.call.little.any.shop.>")
    expect((await permissions("--hub", "hub")).stdout).toContain(
      "# hub calls *, for others, with a ticket for each\n",
    )
  })

  test("gives one who is named twice both, once each", async () => {
    const [both, ...more] = await rulesOf(
      ...["--user", "w1=a.b,a.b", "--user", "w1=a.b,c.*", "--worker", "w1=*", "--hub", "w1"],
    )

    expect(more).toEqual([])
    expect(both?.answers).toBe(true)
    expect(both?.publish).toEqual([...new Set(both?.publish)])
    expect(both?.publish).toContain("operations.call.w1.any.c.>")
    expect(both?.publish).toContain("operations.news")
    expect(both?.subscribe).toContain("operations.call.*.any.> workers")
    expect(both?.subscribe).toContain("_INBOX_w1.>")
  })

  test("prints an aclfile for Redis, and on standard error what that cannot say", async () => {
    const { code, stdout, stderr } = await permissions(...ALICE, ...WORKER, "--redis")

    expect(code).toBe(0)
    const common =
      "on resetkeys resetchannels -@all +ping +client|setname +pubsub|numsub +unsubscribe +punsubscribe"
    expect(stdout.split("\n")).toEqual([
      "user default off resetpass resetkeys resetchannels -@all",
      `user alice #$OPERATIONS_ALICE_PASSWORD_SHA256 ${common} ` +
        "(-@all +publish &operations:call:alice:*:task.list &operations:call:alice:*:shop.* " +
        "&operations:call:alice:all:services.* &operations:ctl:alice:* &operations:ask:alice) " +
        "(-@all +subscribe &operations:inbox:alice:* &operations:news)",
      `user w1 #$OPERATIONS_W1_PASSWORD_SHA256 ${common} ` +
        "(-@all +psubscribe allchannels) (-@all +publish &operations:inbox:* &operations:news)",
      "",
    ])
    expect(stderr).toContain("Put the SHA-256 of each password")
    expect(stderr).toContain("workers hear the calls of all others")
    expect((await permissions(...ALICE, "--redis", "--quiet")).stderr).toBe("")
  })

  test("prints one JSON value under --json", async () => {
    const { stdout, stderr } = await permissions(...ALICE, "--redis", "--json")

    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toEqual({
      engine: "redis",
      prefix: "operations",
      users: [
        {
          user: "alice",
          variable: "OPERATIONS_ALICE_PASSWORD_SHA256",
          rules: expect.arrayContaining(["on", "-@all"]) as string[],
        },
      ],
      text: (await permissions(...ALICE, "--redis")).stdout,
    })
  })
})

describe("operations nats-permissions -o", () => {
  test.each([
    ["nats.conf", []],
    ["users.acl", ["--redis"]],
  ])("writes %s, folders included, and brings it up to date", async (name, more) => {
    const file = `etc/${name}`
    const first = await permissions(...ALICE, ...more, "-o", file, "--quiet")
    expect(first).toEqual({ code: 0, stdout: "", stderr: "" })
    expect(await readFile(join(cwd, file), "utf8")).toBe(
      (await permissions(...ALICE, ...more)).stdout,
    )

    const second = await permissions(...ALICE, ...WORKER, ...more, "-o", file)
    expect(second.code).toBe(0)
    expect(second.stderr).toContain(`Wrote ${file}: 2 users.\n`)
    expect(await readFile(join(cwd, file), "utf8")).toContain("w1")
    expect(await readdir(join(cwd, "etc"))).toEqual([name])
  })

  test("says in JSON which file it wrote", async () => {
    const { stdout } = await permissions(...ALICE, "-o", "nats.conf", "--json")

    expect(JSON.parse(stdout)).toMatchObject({ engine: "nats", file: "nats.conf" })
  })

  test.each([
    ["a configuration of somebody else", "port: 4222\n", []],
    ["hashes of passwords", `user alice on #${"ab".repeat(32)} -@all\n`, ["--redis"]],
    ["a line of somebody else", "user default off -@all\nuser root on >x ~* +@all\n", ["--redis"]],
    ["what is for NATS", "# Written by `operations nats-permissions`: x\n", ["--redis"]],
  ])("leaves a file alone that holds %s", async (_, text, more) => {
    await writeFile(join(cwd, "file"), text)
    const { code, stdout, stderr } = await permissions(...ALICE, ...more, "-o", "file")

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain('"file" was not written by this command, and is left as it is.')
    expect(await readFile(join(cwd, "file"), "utf8")).toBe(text)
  })

  test("needs a file, and a place for it", async () => {
    await mkdir(join(cwd, "folder"))
    await writeFile(join(cwd, "plain"), "")

    expect((await permissions(...ALICE, "--output=")).stderr).toContain("-o takes a file.")
    const folder = await permissions(...ALICE, "-o", "folder")
    expect(folder).toMatchObject({ code: 2 })
    expect(folder.stderr).toContain('"folder" is a folder; -o takes a file.')
    const under = await permissions(...ALICE, "-o", "plain/file")
    expect(under).toMatchObject({ code: 1 })
    expect(under.stderr).toContain('Could not write "plain/file"')
  })
})

describe("what cannot be part of an address", () => {
  test.each([
    ["*"],
    [">"],
    ["a.b"],
    ["a b"],
    ["a:b"],
    ["a\nb"],
    ['a"b'],
    ["a$b"],
    ["é"],
    ["🙂"],
    [""],
    [" "],
    ["a".repeat(65)],
    ["a\u0000"],
  ])("is refused as a name: %j", async (name) => {
    for (const option of ["user", "worker", "hub", "prefix"]) {
      const value = option === "prefix" ? name : `${name}=task.*`
      const { code, stdout, stderr } = await permissions(...ALICE, `--${option}=${value}`)

      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain('must be 1 to 64 letters, digits, "-" or "_".')
      expect(stderr).toContain(`--${option}: `)
      expect(stderr.split("\n")).toHaveLength(3)
    }
  })

  test.each([
    ["a.b*"],
    ["*.b"],
    ["a.*.b"],
    ["a.>.b"],
    ["a..b"],
    [".a"],
    ["a."],
    ["a.b c"],
    ["a.b:c"],
    ["a.\nb"],
    ["a.b\r\nPUB x 1"],
    ['a."'],
    ["a.[b]"],
    ["a.?"],
    ["a.{b}"],
    ["a.é"],
    ["-a.b"],
    [".*"],
    ["**"],
    [`a.${"b".repeat(300)}`],
    ["a)b.c"],
  ])("is refused as an operation: %j", async (pattern) => {
    for (const option of ["user", "worker", "hub"]) {
      const { code, stdout, stderr } = await permissions(`--${option}=x=${pattern}`)

      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain("is not an operation. Give an id")
    }
  })

  test("is what everything that is accepted is made of", async () => {
    const line = /^[\w.:*>& ()+@|#$/"{}[\],'`…=<-]*$/u
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.string(), async (name, pattern) => {
        for (const more of [[], ["--redis"]]) {
          const { code, stdout } = await permissions(`--user=${name}=${pattern}`, ...more)
          expect(code === 0 || stdout === "").toBe(true)
          const written = stdout.split("\n").filter((one) => /allow|user /.test(one))
          for (const one of written) expect(one).toMatch(line)
        }
      }),
      { numRuns: 200 },
    )
  })

  test("a wrong option is reported with a suggestion, where there is one", async () => {
    expect((await permissions("--user=alice=task")).stderr).toContain(
      '--user: "task" is not the id of an operation. For all below it, write "task.*".',
    )
    expect((await permissions("--user=alice")).stderr).toContain(
      'say what "alice" may call: --user alice=task.*',
    )
    expect((await permissions("--user=alice=,")).stderr).toContain('say what "alice" may call')
    expect((await permissions("--worker=w1")).stderr).toContain(
      'say what "w1" serves: --worker w1=task.*',
    )
    const nobody = await permissions()
    expect(nobody).toMatchObject({ code: 2, stdout: "" })
    expect(nobody.stderr).toContain("Name at least one user: --user alice=task.list")
  })

  test("is a name that would share a password with another, or means something to Redis", async () => {
    expect((await permissions("--user=a-b=x.y", "--user=a_b=x.y")).stderr).toContain(
      '"a-b" and "a_b" would share the variable OPERATIONS_A_B_PASSWORD.',
    )
    expect((await permissions("--user=Ada=x.y", "--worker=ada=x.y")).stderr).toContain(
      "would share the variable",
    )
    const { code, stderr } = await permissions("--user=default=x.y", "--redis")
    expect(code).toBe(2)
    expect(stderr).toContain('On Redis "default" is the user of connections without credentials.')
    expect((await permissions("--user=default=x.y")).code).toBe(0)
  })

  test("does not include names that only JavaScript finds odd", async () => {
    const users = await rulesOf("--user=__proto__=constructor.toString", "--worker=1=_._")

    expect(users.map(({ user }) => user)).toEqual(["__proto__", "1"])
    expect(users[0]?.publish).toContain("operations.call.__proto__.any.constructor.toString")
    expect((await rulesOf("--prefix", "9", "--user=1=a.b"))[0]?.variable).toBe("_9_1_PASSWORD")
  })
})
