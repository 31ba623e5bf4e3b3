/** How well a synonym matches a word: an abbreviation almost as well as the word itself. */
const SAME = 0.85
const ALIKE = 0.7
const CLOSE = 0.5

/** Verbs that APIs express with different words. */
const VERBS: readonly string[] = [
  "get read retrieve fetch show",
  "create add new make insert post",
  "update edit modify change patch",
  "delete remove destroy erase",
  "search find query lookup",
  "stop cancel end terminate",
  "run execute trigger start",
]

/** Short and long forms of one word. */
const ABBREVIATIONS: readonly string[] = /* @__PURE__ */ (
  "repo repository, org organization organisation, dir directory folder, config configuration, " +
  "env environment, var variable, db database, app application, doc document documentation, " +
  "msg message, info information, auth authentication, k8s kubernetes, id identifier, img image, " +
  "mail email, ns namespace, param parameter, admin administrator, tz timezone"
).split(", ")

/** Words that people and APIs use for one another. A word may be in several groups. */
const GROUPS: readonly string[] = [
  // Actions.
  "get view see display print inspect describe download read retrieve show",
  "list all index show get enumerate browse",
  "search find locate look filter get",
  "create open start write generate register publish add post",
  "update set put replace rename adjust close reopen edit switch",
  "delete drop clear purge prune forget discard trash remove expel kick",
  "run dispatch invoke launch rerun start trigger",
  "stop kill abort halt disable cancel abandon",
  "undo revert rollback restore reverse",
  "send post deliver publish share mail",
  "upload import put attach create",
  "download export get pull",
  "move rename transfer",
  "copy duplicate clone fork",
  "remember store save memory keep create",
  "save write store attach",
  "invite add",
  "approve accept allow confirm review",
  "reject deny decline refuse",
  "respond reply answer",
  "check verify validate test",
  "convert transform translate exchange",
  "draw render",
  "buy order purchase checkout pay",
  "join enter",
  "compare diff difference changed",
  "watch follow subscribe monitor",
  "schedule later plan",
  "schedule cron periodic recurring nightly daily hourly weekly",
  "retry rerun repeat restart",
  "summarize summary overview",
  "connect link attach relate relation",
  "enable activate",
  "echo repeat say",
  "split divide share",
  "compress zip gzip archive",
  "backup snapshot export",
  "collect capture",
  "deploy deployment rollout release",
  "scale replicas copies instances resize autoscale",
  "grant give allow permission access",
  "restrict limit block ban",
  // Objects.
  "user person people member account friend colleague who",
  "collaborator teammate colleague coworker member",
  "customer client buyer subscriber payer",
  "picture image photo icon drawing",
  "message text post chat",
  "channel conversation room",
  "speech audio voice sound",
  "issue bug ticket",
  "note memo",
  "sum total plus add addition",
  "money currency amount balance payment funds",
  "euro dollar currency money",
  "refund repay reimburse back",
  "payout withdraw withdrawal transfer",
  "discount coupon promotion voucher",
  "dispute chargeback",
  "invoice bill",
  "price cost",
  "subscription membership plan",
  "usage used use consumption metered",
  "visit visitor view traffic referrer",
  "hours time schedule when date",
  "size large big bytes",
  "disk storage space data volume",
  "machine node server host computer",
  "app application workload deployment",
  "build run pipeline workflow job ci",
  "shell exec terminal command",
  "output log",
  "structure tree hierarchy",
  "where location path address",
  "count total number",
  "status ready finished done state progress health",
  "settings configuration preferences options",
  "profile user identity account",
  "password credential secret token key",
  "vulnerability vulnerable advisory security",
  "right permission role privilege",
  "rule policy firewall",
  "limit quota",
  "log history events activity audit past previous",
  "warning alert event",
  "notification inbox",
  "url endpoint webhook callback",
  "branch tag ref reference",
  "star favorite bookmark",
  "fraud suspicious risk",
  "identity passport verification",
  "preview upcoming next future",
  "latest last newest recent",
  "project repository",
  "contributor author",
  "site website page",
  "file document",
  "thing item object entity kind",
  "task job",
  "version release revision",
  "traffic network",
  "crash failure error failed",
  "certificate cert ssl tls",
  "income revenue earnings balance",
  "product item goods article",
  "fee commission",
  "seller merchant vendor",
  "receipt invoice",
  "report statement",
  "manual manually hand",
  "reaction emoji",
  "thread discussion conversation",
  "delivery shipping",
  "unread unseen new",
  "waiting pending requested",
  "scan detect found",
  "stage environment",
  "outside external public inbound incoming ingress",
  "outbound outgoing egress",
  "login signin authenticate",
  "logout signout",
]

/** Phrases that stand for other words. The first of those is required, the others are optional. */
const PHRASES: Readonly<Record<string, readonly string[]>> = {
  "whoami user get": [
    ...["who am i", "who i am", "about me", "my profile", "my user", "logged in user"],
    "current user",
  ],
  "whoami user account get": ["my account"],
  login: ["log in", "logged in", "sign in"],
  "register create": ["sign up"],
  logout: ["log out", "sign out"],
  rollback: ["roll back"],
  "deploy update": ["roll out"],
  lookup: ["look up"],
  search: ["look for"],
  write: ["write down"],
  refund: ["give back", "money back", "pay back"],
  "pull request": ["pull requests", "prs", "pr"],
  create: ["set up"],
  copy: ["make a copy"],
  delete: ["get rid of", "throw away"],
  remove: ["kick out", "take away"],
  cancel: ["call off"],
  schedule: ["every night", "every day", "every hour", "every week", "every minute"],
  event: ["what happened"],
  disable: ["turn off"],
  enable: ["turn on"],
  count: ["how many", "how often"],
  size: ["how big", "how large"],
  duration: ["how long"],
}

/** Words for the user who searches: `list my repositories` lists those of the authenticated user. */
const FIRST_PERSON = "authenticated current me my self mine own"

const SYNONYMS: ReadonlyMap<string, ReadonlyMap<string, number>> = /* @__PURE__ */ synonymTable()

const NONE: ReadonlyMap<string, number> = new Map()

/** The words that commonly stand for this one, each with its weight; none for most. */
export function synonymsOf(word: string): ReadonlyMap<string, number> {
  return SYNONYMS.get(word) ?? NONE
}

/**
 * Words in names of operations that a query seldom means unless it has one of the same group, or a synonym: removal,
 * what belongs to a thing rather than the thing, the user who searches, what is there for older programs, or not finished.
 */
export const SELDOM_MEANT: readonly (readonly string[])[] = [
  ["delete", "remove", "destroy", "purge"],
  ["cancel"],
  "settings configuration permissions protection restrictions policy status template".split(" "),
  ["authenticated"],
  "alpha beta preview experimental v1alpha1 v1alpha2 v1alpha3 v1beta1 v1beta2 v2beta1".split(" "),
  ["legacy", "deprecated", "obsolete", "test", "stubbed"],
]

const LONGEST_PHRASE = 3
const PHRASE_WORDS: ReadonlyMap<string, readonly string[]> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ Object.entries(PHRASES).flatMap(([words, phrases]) =>
    phrases.map((phrase) => [phrase, words.split(" ")] as const),
  ),
)

/** A word of a query; a helper word is not required in a document. */
export interface AskedWord {
  readonly word: string
  readonly isHelp: boolean
}

/** The words of a query with phrases replaced by what they stand for. */
export function withoutPhrases(parts: readonly string[]): AskedWord[] {
  const words: AskedWord[] = []
  for (let at = 0; at < parts.length; at++) {
    let replaced: readonly string[] | undefined
    let length = Math.min(LONGEST_PHRASE, parts.length - at)
    for (; length > 0 && replaced === undefined; length--) {
      replaced = PHRASE_WORDS.get(parts.slice(at, at + length).join(" "))
    }
    if (replaced === undefined) words.push({ word: parts[at]!, isHelp: false })
    else {
      const isConcept = replaced[0] === "whoami"
      words.push(...replaced.map((word, i) => ({ word, isHelp: isConcept && i > 0 })))
      at += length
    }
  }
  // "Comment on an issue" creates a comment: the noun names the wanted object.
  if (IMPERATIVE.has(parts[1] ?? "") && !SYNONYMS.has(parts[0]!)) {
    words.push({ word: "create", isHelp: true })
  }
  return words
}

/** Words that follow a verb rather than a noun. */
const IMPERATIVE: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ "a an the on someone this".split(" "),
)

function synonymTable(): Map<string, Map<string, number>> {
  const table = new Map<string, Map<string, number>>()
  const add = (word: string, other: string, weight: number): void => {
    let weights = table.get(word)
    if (weights === undefined) table.set(word, (weights = new Map()))
    if (word !== other && (weights.get(other) ?? 0) < weight) weights.set(other, weight)
  }
  for (const [groups, weight] of [
    [ABBREVIATIONS, SAME],
    [VERBS, ALIKE],
    [GROUPS, CLOSE],
  ] as const) {
    for (const words of groups.map((group) => group.split(" "))) {
      for (const word of words) for (const other of words) add(word, other, weight)
    }
  }
  for (const word of ["my", "me", "mine", "i", "our", "whoami", "myself"]) {
    for (const other of FIRST_PERSON.split(" ")) add(word, other, SAME)
  }
  for (const other of ["identity", "profile", "login", "authentication"])
    add("whoami", other, CLOSE)
  return table
}
