import type { DocumentName } from "./documents.ts"

/** One operation of a document, an input for it, and a realistic response. */
export interface Answer {
  readonly operationId: string
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
}

const user = "https://api.github.com/users/ada"
const comment = "https://api.github.com/repos/ada/engine/issues/comments/1"

/** One for each document: a query with parameters in its path, as most first calls are. */
export const ANSWERS: Readonly<Record<DocumentName, Answer>> = {
  GitHub: {
    operationId: "issues/get-comment",
    input: { owner: "ada", repo: "engine", comment_id: 1 },
    answer: {
      id: 1,
      node_id: "MDEyOklzc3VlQ29tbWVudDE=",
      url: comment,
      html_url: "https://github.com/ada/engine/issues/1#issuecomment-1",
      issue_url: "https://api.github.com/repos/ada/engine/issues/1",
      body: "It works.",
      user: {
        login: "ada",
        id: 1,
        node_id: "MDQ6VXNlcjE=",
        avatar_url: "https://github.com/images/ada.gif",
        gravatar_id: "",
        url: user,
        html_url: "https://github.com/ada",
        followers_url: `${user}/followers`,
        following_url: `${user}/following{/other_user}`,
        gists_url: `${user}/gists{/gist_id}`,
        starred_url: `${user}/starred{/owner}{/repo}`,
        subscriptions_url: `${user}/subscriptions`,
        organizations_url: `${user}/orgs`,
        repos_url: `${user}/repos`,
        events_url: `${user}/events{/privacy}`,
        received_events_url: `${user}/received_events`,
        type: "User",
        site_admin: false,
      },
      created_at: "2026-01-01T00:00:00Z",
      updated_at: "2026-01-01T00:00:00Z",
      author_association: "COLLABORATOR",
    },
  },
  Stripe: {
    operationId: "GetChargesCharge",
    input: { charge: "ch_1", expand: ["customer"] },
    answer: {
      id: "ch_1",
      object: "charge",
      amount: 1099,
      amount_captured: 1099,
      amount_refunded: 0,
      application: null,
      balance_transaction: "txn_1",
      billing_details: {
        address: { city: null, country: "GB", line1: null, line2: null, postal_code: null },
        email: "ada@example.com",
        name: "Ada",
        phone: null,
      },
      captured: true,
      created: 1_767_225_600,
      currency: "gbp",
      customer: {
        id: "cus_1",
        object: "customer",
        created: 1_767_225_600,
        default_source: null,
        description: null,
        email: "ada@example.com",
        livemode: false,
        shipping: null,
      },
      description: null,
      disputed: false,
      invoice: null,
      livemode: false,
      metadata: { order: "1" },
      outcome: {
        network_status: "approved_by_network",
        reason: null,
        risk_level: "normal",
        seller_message: "Payment complete.",
        type: "authorized",
      },
      paid: true,
      payment_intent: "pi_1",
      payment_method: "pm_1",
      payment_method_details: {
        type: "card",
        card: {
          brand: "visa",
          checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: "pass" },
          country: "GB",
          exp_month: 1,
          exp_year: 2030,
          funding: "credit",
          last4: "4242",
          network: "visa",
        },
      },
      refunded: false,
      status: "succeeded",
    },
  },
  Kubernetes: {
    operationId: "readCoreV1NamespacedPod",
    input: { namespace: "default", name: "web-1" },
    answer: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "web-1",
        namespace: "default",
        uid: "1",
        labels: { app: "web" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "2" }],
      },
      spec: {
        containers: [
          {
            name: "web",
            image: "web:1",
            ports: [{ containerPort: 8080, protocol: "TCP" }],
            resources: { requests: { cpu: "100m", memory: "64Mi" } },
            livenessProbe: { httpGet: { path: "/", port: "http" } },
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
        volumes: [{ name: "data", emptyDir: {} }],
        restartPolicy: "Always",
        tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }],
      },
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [
          { name: "web", image: "web:1", imageID: "1", ready: true, restartCount: 0 },
        ],
      },
    },
  },
  "Microsoft Graph": {
    operationId: "users.GetMessages",
    input: { "user-id": "ada", "message-id": "1", $select: ["subject", "from"] },
    answer: {
      "@odata.type": "#microsoft.graph.message",
      id: "1",
      subject: "The engine",
      bodyPreview: "It works.",
      importance: "normal",
      isRead: false,
      receivedDateTime: "2026-01-01T00:00:00Z",
      body: { contentType: "text", content: "It works." },
      from: { emailAddress: { name: "Ada", address: "ada@example.com" } },
      toRecipients: [{ emailAddress: { name: "Charles", address: "charles@example.com" } }],
      attachments: [],
    },
  },
}
