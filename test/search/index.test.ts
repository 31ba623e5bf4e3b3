import { describe, expect, test } from "vitest"
import { type SearchDocument, SearchIndex } from "../../src/search/index.ts"

function indexOf(...documents: (string | SearchDocument)[]): SearchIndex {
  const index = new SearchIndex()
  for (const document of documents) {
    index.add(typeof document === "string" ? { id: document, description: "" } : document)
  }
  return index
}

function idsOf(index: SearchIndex, query: string, limit = Infinity): string[] {
  return index.search(query, { limit }).map((hit) => hit.id)
}

test("SearchIndex.prepare() changes no results, whenever it is called", () => {
  const names = ["b.create", "a.created", "c.creation", "a.list", "b.lists"]
  const found = (isPrepared: boolean): string[][] => {
    const index = indexOf()
    return names.map((id) => {
      index.add({ id, description: "" })
      if (isPrepared) index.prepare()
      return [...idsOf(index, "create"), ...idsOf(index, ""), ...idsOf(index, "li")]
    })
  }
  expect(found(true)).toEqual(found(false))
  expect(() => indexOf().prepare()).not.toThrow()
})

describe("SearchIndex on input it did not expect", () => {
  test.each([undefined, null, 7, {}, ["a"]])("rejects %j as a query", (query) => {
    const index = indexOf("task.create")

    expect(() => index.search(query as string)).toThrow(TypeError)
    expect(() => index.search(query as string)).toThrow("search(query) takes a string; got")
  })

  test.each([-1, Number.NaN, 1.5, 2 ** 60, -Infinity, "5", null])(
    "says that %j is no limit",
    (limit) => {
      const options = { limit: limit as number }

      expect(() => indexOf("task.create").search("task", options)).toThrow(TypeError)
      expect(() => indexOf("task.create").search("task", options)).toThrow('option "limit" takes')
    },
  )

  test("takes a huge limit, and one of nothing", () => {
    const index = indexOf("task.create", "task.list")

    expect(index.search("task", { limit: Number.MAX_SAFE_INTEGER })).toHaveLength(2)
    expect(index.search("task", { limit: 0 })).toEqual([])
  })

  test("answers a query of a megabyte", () => {
    const index = indexOf("task.create", "note.create")

    expect(idsOf(index, "task ".repeat(200_000))).toEqual(["task.create"])
    expect(idsOf(index, "x".repeat(1_000_000))).toEqual([])
    expect(idsOf(index, "taskcreate".repeat(100_000))).toEqual(["task.create", "note.create"])
  })

  test("reads no more than the beginning of a description of megabytes", () => {
    const description = `${"filler ".repeat(400)} unreachable`
    const index = indexOf({ id: "big.one", description })

    expect(idsOf(index, "filler")).toEqual(["big.one"])
    expect(idsOf(index, "unreachable")).toEqual([])
  })

  test("takes names of the object prototype for words", () => {
    const index = indexOf("a.__proto__", "b.constructor", "c.toString", "d.hasOwnProperty")

    expect(idsOf(index, "__proto__")).toEqual(["a.__proto__"])
    expect(idsOf(index, "constructor")).toEqual(["b.constructor"])
    expect(idsOf(index, "valueOf")).toEqual([])
    expect(index.has("__proto__")).toBe(false)
  })

  test("takes lone surrogates, NUL and control characters for separators", () => {
    const index = indexOf({ id: "odd.one", description: "left\ud800right\u0000middle\udc00" })

    for (const word of ["left", "right", "middle", "\ud800left", "\u0000middle\u0007"]) {
      expect(idsOf(index, word)).toEqual(["odd.one"])
    }
    expect(idsOf(index, "\ud800\udc00\u0000")).toEqual([])
  })

  test("finds an id without letters or digits by the id alone", () => {
    const index = indexOf("---", "task.list", "")

    expect(idsOf(index, "---")).toEqual(["---"])
    expect(idsOf(index, "***")).toEqual([])
    expect(idsOf(index, " ")).toEqual(["", "---", "task.list"])
  })

  test("puts an exact id first even where its words are read otherwise", () => {
    const index = indexOf("GitHub", { id: "x.y", description: "talks to github" })

    expect(idsOf(index, "GitHub")[0]).toBe("GitHub")
  })

  test("stays as it was when a document cannot be read", () => {
    const index = indexOf("task.create")
    const broken = { id: "task.create", description: undefined as unknown as string }

    expect(() => index.add(broken)).toThrow(TypeError)
    expect(idsOf(index, "create")).toEqual(["task.create"])
  })

  test("lets the filter throw, search and change the index", () => {
    const index = indexOf("task.create", "task.list", "task.remove")
    const before = index.search("task")

    const refuse = (): boolean => {
      throw new Error("no")
    }
    expect(() => index.search("task", { accept: refuse })).toThrow("no")
    const seen = index.search("task", {
      accept: (id) => index.remove(id) && index.search("task").every((hit) => hit.id !== id),
    })
    expect(seen).toEqual(before)
    expect(index.size).toBe(0)
  })
})

describe("SearchIndex.search", () => {
  test("returns every document in id order for an empty query", () => {
    const index = indexOf("b.two", "a.one", "c.three")

    expect(idsOf(index, "")).toEqual(["a.one", "b.two", "c.three"])
    expect(idsOf(index, " \t\n", 2)).toEqual(["a.one", "b.two"])
    expect(index.search("", { accept: (id) => id > "b" })).toHaveLength(2)
  })

  test("returns twenty results by default", () => {
    const index = indexOf(...Array.from({ length: 30 }, (_, i) => `task.t${i}`))

    expect(index.search("task")).toHaveLength(20)
  })

  test("ranks the id before the name, the name before its words, all of them before some", () => {
    const index = indexOf(
      { id: "some.words", description: "create create create" },
      { id: "all.words", description: "where issues are made: create, github" },
      "create.github.issue",
      "other.create_github_issue",
      "create.githubIssue",
    )

    expect(idsOf(index, "create.githubIssue")).toEqual([
      "create.githubIssue",
      "create.github.issue",
      "other.create_github_issue",
      "all.words",
      "some.words",
    ])
    expect(index.search("create.githubIssue").map((hit) => Math.floor(hit.score))).toEqual([
      3, 2, 1, 0, 0,
    ])
  })

  test("weighs name, title, tags and description in this order", () => {
    const index = indexOf(
      { id: "d.d", description: "widget" },
      { id: "c.c", description: "", tags: ["widget"] },
      { id: "b.b", description: "", title: "Widget" },
      { id: "a.widgetOf", description: "" },
    )

    expect(idsOf(index, "widget")).toEqual(["a.widgetOf", "b.b", "c.c", "d.d"])
  })

  test("ranks the thing itself before what has more to its name", () => {
    const index = indexOf(
      { id: "pay.customerBankAccounts", description: "Of a customer", title: "A customer's" },
      { id: "pay.customers", description: "" },
    )

    expect(idsOf(index, "customer")).toEqual(["pay.customers", "pay.customerBankAccounts"])
  })

  test("finds an operation by the fixed segments of its path", () => {
    const index = indexOf(
      { id: "repos.top-sources", description: "", path: "/repos/{owner}/traffic/popular" },
      { id: "repos.pages", description: "", path: "/repos/{traffic}/pages" },
    )

    expect(idsOf(index, "traffic")).toEqual(["repos.top-sources"])
  })

  test("finds an operation by the names of its input", () => {
    const index = indexOf(
      { id: "a.a", description: "", inputNames: ["dueDate", "assignee"] },
      "b.b",
    )

    expect(idsOf(index, "due date")).toEqual(["a.a"])
  })

  test("breaks ties by id, whatever the order they came in", () => {
    const index = indexOf("c.same", "a.same", "b.same")

    expect(idsOf(index, "same")).toEqual(["a.same", "b.same", "c.same"])
  })

  test.each([
    ["issues", "github.issue"],
    ["creating", "github.created"],
    ["repositories", "github.repository"],
  ])("finds other forms of a word: %s", (query, id) => {
    expect(idsOf(indexOf("x.y", id), query)).toEqual([id])
  })

  test("prefers the word as it was written to another form of it", () => {
    expect(idsOf(indexOf("a.issues", "b.issue"), "issue of")).toEqual(["b.issue", "a.issues"])
  })

  test("finds words as they are typed, the closest first", () => {
    const index = indexOf("a.deployments", "b.deploy", "c.other")

    expect(idsOf(index, "d")).toEqual(["b.deploy", "a.deployments"])
    expect(idsOf(index, "depl")).toEqual(["b.deploy", "a.deployments"])
    expect(idsOf(index, "deploym")).toEqual(["a.deployments"])
  })

  test("takes short words for a beginning only where they come last", () => {
    const index = indexOf("a.deploy", "b.list")

    expect(idsOf(index, "de list")).toEqual(["b.list"])
    expect(idsOf(index, "list de")).toEqual(["b.list", "a.deploy"])
  })

  test.each(["isue", "isssue", "isshe", "sisue"])("forgives one mistake: %s", (query) => {
    expect(idsOf(indexOf("github.issue", "x.y"), query)).toEqual(["github.issue"])
  })

  test("forgives no mistake in short words, and none where the word is known", () => {
    const index = indexOf("a.cart", "b.card", "c.tag")

    expect(idsOf(index, "card")).toEqual(["b.card"])
    expect(idsOf(index, "tab")).toEqual([])
  })

  test("returns no guesses if a word of the query has no match", () => {
    const index = indexOf("a.deploy", "b.factory", "c.report")

    expect(idsOf(index, "deplyo")).toEqual(["a.deploy"])
    expect(idsOf(index, "zzzzzz deplyo")).toEqual([])
    expect(idsOf(index, "remember a fact")).toEqual([])
    expect(idsOf(index, "zzzzzz report deplyo")).toEqual(["c.report"])
  })

  test("corrects no more than a few words of a query", () => {
    const index = indexOf("a.deploy")
    const wrong = ["deplyo", "edploy", "dploy", "deploi", "deloy", "depoly", "deplloy", "ddeploy"]

    expect(idsOf(index, wrong.join(" "))).toEqual(["a.deploy"])
    expect(idsOf(index, [...wrong.map((word) => `${word}qq`), "deplyo"].join(" "))).toEqual([])
  })

  test("finds what others call by another verb, after those that use the word", () => {
    const index = indexOf("a.deleteUser", "b.removeUser", "c.createUser")

    expect(idsOf(index, "remove user")).toEqual(["b.removeUser", "a.deleteUser", "c.createUser"])
  })

  test("finds what is made from the same verb, after other forms of the word", () => {
    const index = indexOf("a.contributors", "b.contributed", "c.custom", "d.customer")

    expect(idsOf(index, "contribute")).toEqual(["b.contributed", "a.contributors"])
    expect(idsOf(index, "customer")).toEqual(["d.customer"])
  })

  test("reads the word my as the authenticated user", () => {
    const index = indexOf(
      { id: "a.list", title: "List repositories", description: "" },
      { id: "b.list", title: "List repositories for the authenticated user", description: "" },
      { id: "c.get", title: "Get the authenticated user", description: "" },
      { id: "d.get", title: "Get a user", description: "" },
    )

    expect(idsOf(index, "list my repositories")[0]).toBe("b.list")
    expect(idsOf(index, "list repositories")[0]).toBe("a.list")
    expect(idsOf(index, "who am i")).toEqual(["c.get", "b.list"])
  })

  test("puts what only reads before what changes something if the query asks a question, and behind it otherwise", () => {
    const index = indexOf(
      { id: "a.vacuumNodes", description: "", readsOnly: false },
      { id: "b.probeNodes", description: "", readsOnly: true },
    )

    expect(idsOf(index, "which nodes are there")).toEqual(["b.probeNodes", "a.vacuumNodes"])
    expect(idsOf(index, "vacate the nodes")).toEqual(["a.vacuumNodes", "b.probeNodes"])
    expect(idsOf(index, "nodes")).toEqual(["a.vacuumNodes", "b.probeNodes"])
  })

  test("puts rare words of names before those that most names have", () => {
    const others = ["listNamespacedPod", "readNamespacedPod", "listNamespacedService"]
    const index = indexOf(
      ...others.map((name) => `k8s.${name}`),
      {
        id: "k8s.createNamespacedIngress",
        description: "",
        subject: "Rules for traffic from outside.",
      },
      { id: "k8s.createRoute", description: "Traffic of a cluster." },
    )

    expect(idsOf(index, "create an ingress")[0]).toBe("k8s.createNamespacedIngress")
    expect(idsOf(index, "traffic from outside")[0]).toBe("k8s.createNamespacedIngress")
  })

  test("puts what ends in the thing that is asked for before what only passes it in its path", () => {
    const index = indexOf(
      { id: "api.first", description: "Get it", path: "/deployments/{id}/statuses" },
      { id: "api.second", description: "Get it", path: "/deployments/{id}" },
    )

    expect(idsOf(index, "get a deployment")).toEqual(["api.second", "api.first"])
    expect(idsOf(index, "get the status of a deployment")).toEqual(["api.first", "api.second"])
  })

  test("puts a thing before what belongs to it, unless the query asks for that", () => {
    const index = indexOf("x.getBranchProtection", "y.getBranchCommits")

    expect(idsOf(index, "a branch of mine")[0]).toBe("y.getBranchCommits")
    expect(idsOf(index, "protection of a branch")[0]).toBe("x.getBranchProtection")
  })

  test("weighs what is named first more than what describes it", () => {
    const index = indexOf("a.listBranches", "b.listCommits")

    expect(idsOf(index, "commits of branches")).toEqual(["b.listCommits", "a.listBranches"])
    expect(idsOf(index, "branches of commits")).toEqual(["a.listBranches", "b.listCommits"])
  })

  test("puts what removes behind, unless the query asks for it", () => {
    const index = indexOf("a.deleteComment", "b.getComment", "c.createComment")

    expect(idsOf(index, "comment").at(-1)).toBe("a.deleteComment")
    expect(idsOf(index, "erase comment")[0]).toBe("a.deleteComment")
  })

  test("reads no tags of HTML and no addresses of links", () => {
    const index = indexOf({
      id: "a.a",
      description: '<p class="lead">Creates a [ticket](https://example.com/manual).</p>',
    })

    expect(idsOf(index, "ticket")).toEqual(["a.a"])
    for (const word of ["lead", "class", "manual", "example"])
      expect(idsOf(index, word)).toEqual([])
  })

  test("weighs the first sentence of a description more than the others", () => {
    const index = indexOf(
      { id: "a.a", description: "Works with tickets. It can also archive a report." },
      { id: "b.b", description: "Archives a report. It works with tickets, too." },
    )

    expect(idsOf(index, "archive report")).toEqual(["b.b", "a.a"])
  })

  test("finds words that were joined, and words that were split", () => {
    const index = indexOf("a.listPods", "b.createWebhook")

    expect(idsOf(index, "listpods")).toEqual(["a.listPods"])
    expect(idsOf(index, "web hook")).toEqual(["b.createWebhook"])
    expect(idsOf(index, "webhookcreatelist")).toEqual(["b.createWebhook", "a.listPods"])
  })

  test("knows a brand by either spelling", () => {
    const index = indexOf({ id: "a.a", description: "Talks to GitHub." }, "github.list")

    expect(idsOf(index, "github")).toEqual(["github.list", "a.a"])
    expect(idsOf(index, "GitHub")).toEqual(["github.list", "a.a"])
  })

  test("does not insist on the small words of a sentence, but knows them in names", () => {
    const index = indexOf("cart.addItem", "cart.addToCart", "x.y")

    expect(idsOf(index, "how do I add an item to the cart", 1)).toEqual(["cart.addItem"])
    expect(idsOf(index, "add to cart", 1)).toEqual(["cart.addToCart"])
    expect(idsOf(index, "to")).toEqual(["cart.addToCart"])
    expect(idsOf(indexOf({ id: "a.b", description: "the end of the day" }), "the of")).toEqual([])
  })

  test("reads other scripts, with and without accents", () => {
    const index = indexOf(
      { id: "a.a", description: "Café anlegen, Größe ändern" },
      { id: "b.b", description: "数据库连接を作成する" },
      { id: "c.c", description: "Создать задачу" },
      { id: "d.d", description: "데이터 목록" },
    )

    expect(idsOf(index, "cafe")).toEqual(["a.a"])
    expect(idsOf(index, "ＣＡＦÉ")).toEqual(["a.a"])
    expect(idsOf(index, "数据库")).toEqual(["b.b"])
    expect(idsOf(index, "接")).toEqual(["b.b"])
    expect(idsOf(index, "る")).toEqual(["b.b"])
    expect(idsOf(index, "ЗАДАЧУ")).toEqual(["c.c"])
    expect(idsOf(index, "데이")).toEqual(["d.d"])
  })

  test("asks the filter in rank order and no longer than needed", () => {
    const index = indexOf(...Array.from({ length: 50 }, (_, i) => `n${i + 10}.task`))
    const asked: string[] = []

    const hits = index.search("task", {
      limit: 2,
      accept: (id) => asked.push(id) > 3,
    })

    expect(asked).toEqual(["n10.task", "n11.task", "n12.task", "n13.task", "n14.task"])
    expect(hits.map((hit) => hit.id)).toEqual(["n13.task", "n14.task"])
  })
})

describe("SearchIndex.add and remove", () => {
  test("replaces a document with the same id", () => {
    const index = indexOf({ id: "a.a", description: "old words" })

    index.add({ id: "a.a", description: "new words" })

    expect(index.size).toBe(1)
    expect(idsOf(index, "old")).toEqual([])
    expect(idsOf(index, "new")).toEqual(["a.a"])
    expect(idsOf(index, "")).toEqual(["a.a"])
  })

  test("forgets what was removed, for prefixes and corrections too", () => {
    const index = indexOf("a.deploy", "b.list")

    expect(index.remove("a.deploy")).toBe(true)
    expect(index.remove("a.deploy")).toBe(false)
    expect(index.has("a.deploy")).toBe(false)
    for (const query of ["a.deploy", "deploy", "depl", "deplyo", "deploys", "listdeploy"]) {
      expect(idsOf(index, query)).not.toContain("a.deploy")
    }
  })

  test("returns the same results after thousands of changes as a new index", () => {
    const index = new SearchIndex()
    const document = (i: number): SearchDocument => ({
      id: `n${i % 7}.task${i}`,
      title: i % 3 === 0 ? "Deploy service" : "List services",
      description: `only${i} of ${i % 100} here`,
    })
    for (let i = 0; i < 4000; i++) index.add(document(i))
    index.search("deploy")
    for (let i = 0; i < 3000; i++) index.remove(document(i).id)
    for (let i = 4000; i < 4100; i++) index.add(document(i))
    const fresh = new SearchIndex()
    for (let i = 3000; i < 4100; i++) fresh.add(document(i))

    expect(index.size).toBe(1100)
    for (const query of [
      "deploy",
      "serv",
      "servcie",
      "only3500",
      "only5",
      "n3.task3503",
      "42",
      "",
    ]) {
      expect(index.search(query, { limit: 50 })).toEqual(fresh.search(query, { limit: 50 }))
    }
  })
})
