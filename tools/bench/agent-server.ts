/** GitHub's API with invented data: the answers of five tasks, of the size and shape of the document's own examples. */

type Json = Readonly<Record<string, unknown>>

interface Route {
  readonly method: string
  readonly path: RegExp
  readonly answer: (url: URL) => unknown
}

const PROSE =
  "The worker stops after the second retry and leaves its lock behind, so the next run waits for it until it times out. " +
  "Expected: the lock is released when the process ends. Actual: it stays until somebody deletes it by hand. "
const TITLES = [
  "Worker keeps its lock after a crash",
  "Timeout when the list is empty",
  "Wrong total in the monthly report",
  "Login page does not load on slow networks",
  "Search ignores accents",
]
const BUGS = 250
const RUNS = 30
const FAILING_RUNS = 10
const COMMITS = 130
const BRANCHES = 40
const PULLS = 24

/** A `fetch` that answers with data made from the examples of GitHub's document. */
export function githubServer(text: string): typeof globalThis.fetch {
  const examples = new Examples(JSON.parse(text) as Json)
  const routes = routesOf(examples)
  return async (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    for (const { method, path, answer } of routes) {
      const match = request.method === method ? path.exec(url.pathname) : null
      if (match === null) continue
      const status = method === "POST" ? 201 : method === "DELETE" ? 204 : 200
      return status === 204
        ? new Response(null, { status })
        : Response.json(answer(url), { status })
    }
    throw new Error(`The server has no route for ${request.method} ${url.pathname}`)
  }
}

/** The examples of a document, by path and method. */
class Examples {
  readonly #document: Json

  constructor(document: Json) {
    this.#document = document
  }

  object(path: string, method = "get", ...inner: readonly string[]): Json {
    const responses = this.#at(["paths", path, method, "responses"]) as Json
    const status = Object.keys(responses).find((one) => one.startsWith("2")) ?? ""
    const named = this.#at([status, "content", "application/json", "examples"], responses) as Json
    const [first] = Object.values(named) as [Json]
    const name = nameIn(first["$ref"])
    const example = "$ref" in first ? (this.#at(["components", "examples", name]) as Json) : first
    return this.#at(["value", ...inner], example) as Json
  }

  #at(path: readonly string[], from: unknown = this.#document): unknown {
    return path.reduce((value, key) => (value as Json)[key], from)
  }
}

/** The last part of a reference. */
function nameIn(reference: unknown): string {
  return typeof reference === "string" ? (reference.split("/").at(-1) ?? "") : ""
}

function routesOf(examples: Examples): readonly Route[] {
  const repo = "/repos/{owner}/{repo}"
  const issue = examples.object(`${repo}/issues`, "get", "0")
  const run = examples.object(`${repo}/actions/runs`, "get", "workflow_runs", "0")
  const job = examples.object(`${repo}/actions/runs/{run_id}/jobs`, "get", "jobs", "0")
  const pull = { ...examples.object(`${repo}/pulls`, "get", "0"), requested_teams: [] }
  const commit = examples.object(`${repo}/commits`, "get", "0")
  const { protection: _, ...branch } = examples.object(`${repo}/branches`, "get", "0")
  const review = examples.object(`${repo}/pulls/{pull_number}/reviews`, "get", "0")
  const release = examples.object(`${repo}/releases/latest`)
  const one = examples.object(`${repo}/commits/{ref}`)
  const file = examples.object(`${repo}/commits/{ref}`, "get", "files", "0")
  const issueAt = (n: number): Json => ({
    ...issue,
    ...{ id: n, number: n, title: titleAt(n), body: bodyAt(n), created_at: dateAt(n) },
    ...{ assignee: null, assignees: [] },
  })
  const commitAt = (n: number): Json => ({
    ...commit,
    sha: shaAt(n),
    commit: { ...(commit["commit"] as Json), message: `${titleAt(n)} (#${n})` },
  })
  const at = (method: string, path: string, answer: Route["answer"]): Route => ({
    method,
    path: new RegExp(`^/repos/[^/]+/[^/]+/${path}$`),
    answer,
  })
  return [
    at("GET", "issues", (url) => page(url, BUGS, issueAt)),
    at("POST", "issues", () => issueAt(BUGS + 1)),
    at("GET", "actions/runs", (url) => ({
      total_count: RUNS,
      workflow_runs: page(url, RUNS, (n) => ({
        ...run,
        id: n,
        conclusion: n <= FAILING_RUNS ? "failure" : "success",
      })),
    })),
    at("GET", "actions/runs/(\\d+)/jobs", () => ({
      total_count: 4,
      jobs: list(4, (n) => ({
        ...job,
        ...{ id: n, created_at: dateAt(n), conclusion: n === 1 ? "failure" : "success" },
      })),
    })),
    at("GET", "releases/latest", () => release),
    at("POST", "releases", () => release),
    at("GET", "commits", (url) => page(url, COMMITS, commitAt)),
    at("GET", "commits/([^/]+)", () => ({
      ...one,
      files: list(3, (n) => ({ ...file, sha: shaAt(n), contents_url: file["raw_url"] })),
    })),
    at("GET", "branches", (url) =>
      page(url, BRANCHES, (n) => ({ ...branch, name: `feature-${n}` })),
    ),
    at("DELETE", "git/refs/.+", () => null),
    at("GET", "pulls", (url) =>
      page(url, PULLS, (n) => ({ ...pull, number: n, title: titleAt(n), body: bodyAt(n) })),
    ),
    at("GET", "pulls/(\\d+)/reviews", () =>
      list(5, (n) => ({ ...review, id: n, body: bodyAt(n) })),
    ),
  ]
}

/** The page that a request asks for. */
function page(url: URL, total: number, make: (n: number) => Json): readonly Json[] {
  const size = Number(url.searchParams.get("per_page") ?? 30)
  const first = (Number(url.searchParams.get("page") ?? 1) - 1) * size
  return list(Math.max(0, Math.min(size, total - first)), (n) => make(first + n))
}

function list(count: number, make: (n: number) => Json): readonly Json[] {
  return Array.from({ length: count }, (_, at) => make(at + 1))
}

function titleAt(n: number): string {
  return `${TITLES[n % TITLES.length]}, case ${n}`
}

function bodyAt(n: number): string {
  return PROSE.repeat(1 + (n % 4))
}

function dateAt(n: number): string {
  return new Date(Date.UTC(2021, 0, 1) + n * 86_400_000).toISOString()
}

function shaAt(n: number): string {
  return n.toString(16).padStart(40, "6dcb09b5b57875f334f61aebed695e2e4193db5e")
}
