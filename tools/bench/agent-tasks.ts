/** What an agent can do in a task. */
export interface Agent {
  search(query: string): Promise<void>
  describe(id: string): Promise<void>
  /** Calls an operation; `select` is what a careful agent would ask for. */
  call(id: string, input: Record<string, unknown>, select: readonly string[]): Promise<void>
}

/** One task, as the calls of an agent that makes no mistake. */
export interface AgentTask {
  readonly name: string
  run(agent: Agent): Promise<void>
}

const REPO = { owner: "octocat", repo: "Hello-World" }
const COUNTS = { runs: 10, commits: 2, branches: 40, pulls: 24 }

/** Five tasks over GitHub's API. */
export const TASKS: readonly AgentTask[] = [
  {
    name: "oldest unassigned bugs",
    async run(agent) {
      await find(agent, "list the issues of a repository", "github.issues_list-for-repo")
      for (let page = 1; page <= 3; page++) {
        const query = { assignee: "none", labels: "bug", sort: "created", direction: "asc" }
        const input = { ...REPO, ...query, per_page: 100, page }
        await agent.call("github.issues_list-for-repo", input, ["number", "title", "created_at"])
      }
    },
  },
  {
    name: "an issue for each failing build",
    async run(agent) {
      const runs = "github.actions_list-workflow-runs-for-repo"
      await find(agent, "list workflow runs of a repository", runs)
      const select = ["id", "name", "head_branch", "conclusion"]
      const fields = select.map((name) => `workflow_runs.${name}`)
      await agent.call(runs, { ...REPO, branch: "main", status: "completed" }, fields)
      await find(agent, "jobs of a workflow run", "github.actions_list-jobs-for-workflow-run")
      await find(agent, "create an issue", "github.issues_create")
      for (let run_id = 1; run_id <= COUNTS.runs; run_id++) {
        const jobs = ["name", "conclusion", "html_url"].map((name) => `jobs.${name}`)
        await agent.call("github.actions_list-jobs-for-workflow-run", { ...REPO, run_id }, jobs)
        const body = { title: `Build ${run_id} fails`, body: `Run ${run_id}: a job has failed.` }
        await agent.call("github.issues_create", { ...REPO, body }, ["number", "html_url"])
      }
    },
  },
  {
    name: "release notes",
    async run(agent) {
      await find(agent, "latest release", "github.repos_get-latest-release")
      const latest = ["tag_name", "published_at"]
      await agent.call("github.repos_get-latest-release", REPO, latest)
      await find(agent, "list commits", "github.repos_list-commits")
      for (let page = 1; page <= COUNTS.commits; page++) {
        const input = { ...REPO, since: "2026-01-01T00:00:00Z", per_page: 100, page }
        await agent.call("github.repos_list-commits", input, ["commit.message", "author.login"])
      }
      await find(agent, "create a release", "github.repos_create-release")
      const notes = "- Release the lock of a worker that has crashed\n".repeat(20)
      const body = { tag_name: "v1.1.0", name: "1.1.0", body: notes }
      await agent.call("github.repos_create-release", { ...REPO, body }, ["html_url"])
    },
  },
  {
    name: "stale branches",
    async run(agent) {
      await find(agent, "list branches", "github.repos_list-branches")
      const branches = ["name", "commit.sha", "protected"]
      await agent.call("github.repos_list-branches", { ...REPO, per_page: 100 }, branches)
      await find(agent, "get a commit", "github.repos_get-commit")
      for (let n = 1; n <= COUNTS.branches; n++) {
        const select = ["commit.committer.date", "author.login"]
        await agent.call("github.repos_get-commit", { ...REPO, ref: `feature-${n}` }, select)
      }
    },
  },
  {
    name: "who reviews most",
    async run(agent) {
      await find(agent, "list pull requests", "github.pulls_list")
      const input = { ...REPO, state: "closed", per_page: COUNTS.pulls }
      await agent.call("github.pulls_list", input, ["number", "user.login"])
      await find(agent, "reviews of a pull request", "github.pulls_list-reviews")
      for (let pull_number = 1; pull_number <= COUNTS.pulls; pull_number++) {
        const select = ["user.login", "state"]
        await agent.call("github.pulls_list-reviews", { ...REPO, pull_number }, select)
      }
    },
  },
]

async function find(agent: Agent, query: string, id: string): Promise<void> {
  await agent.search(query)
  await agent.describe(id)
}
