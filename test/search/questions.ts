// What people and agents ask for, and the operations that answer it.

/** A question, where it is asked, and the ids any of which is a good answer. */
export interface Question {
  /** The namespace that is searched; all of them when it is left out. */
  readonly within?: string
  readonly ask: string
  readonly expected: readonly string[]
}

const within = (namespace: string, asked: Readonly<Record<string, string>>): Question[] =>
  Object.entries(asked).map(([ask, names]) => ({
    within: namespace,
    ask,
    expected: names.split(" ").map((name) => `${namespace}.${name}`),
  }))

const anywhere = (asked: Readonly<Record<string, string>>): Question[] =>
  Object.entries(asked).map(([ask, ids]) => ({ ask, expected: ids.split(" ") }))

/** Asked while weights were chosen. */
export const TUNING: readonly Question[] = [
  ...within("github", {
    "list my repositories": "repos_list-for-authenticated-user",
    "who am i": "users_get-authenticated",
    "star a repo": "activity_star-repo-for-authenticated-user",
    "list open issues in a repo": "issues_list-for-repo",
    "comment on an issue": "issues_create-comment",
    "get the contents of a file": "repos_get-content",
    "trigger a workflow": "actions_create-workflow-dispatch",
    "assign someone to an issue": "issues_add-assignees",
    "who contributed to this project": "repos_list-contributors",
  }),
  ...within("stripe", {
    "refund a payment": "PostRefunds PostChargesChargeRefund PostChargesChargeRefunds",
    "list customers": "GetCustomers",
    "update a customer's email": "PostCustomersCustomer",
    "create a discount code": "PostPromotionCodes PostCoupons",
    "email an invoice to the customer": "PostInvoicesInvoiceSend",
  }),
  ...within("kubernetes", {
    "list pods in a namespace": "listCoreV1NamespacedPod",
    "evict a pod": "createCoreV1NamespacedPodEviction",
    "delete a deployment": "deleteAppsV1NamespacedDeployment",
  }),
  ...within("slack", {
    "list channels": "conversations_list",
    "upload a file": "files_upload",
    "invite people to a channel": "conversations_invite admin_conversations_invite",
  }),
  ...within("openai", {
    "create embeddings": "createEmbedding",
    "which models are available": "listModels",
  }),
  ...within("docker", {
    "list running containers": "ContainerList",
    "download an image": "ImageCreate ImageGet",
  }),
  ...anywhere({
    "add two numbers": "everything.get-sum",
    "remember a fact": "memory.create_entities memory.add_observations",
    "list files in a folder":
      "files.list_directory files.list_directory_with_sizes files.directory_tree box.get_folders_id_items",
    "make a folder": "files.create_directory box.post_folders",
    "museum opening hours": "museum.getMuseumHours",
    "convert euros to dollars": "money.convert",
  }),
  ...within("notes", { "write something down": "add_note" }),
  ...within("petstore", { "log in": "loginUser" }),
  ...within("github", {
    "create a new repository":
      "repos_create-for-authenticated-user repos_create-in-org repos_create-using-template",
    "list my gists": "gists_list",
    "close an issue": "issues_update",
    "list pull requests": "pulls_list",
    "show the readme of a project": "repos_get-readme",
    "approve a pull request": "pulls_create-review pulls_submit-review",
    "list commits on a branch": "repos_list-commits",
    "block a user": "users_block orgs_block-user",
    "my teams": "teams_list-for-authenticated-user",
    "get my email addresses":
      "users_list-emails-for-authenticated-user users_list-public-emails-for-authenticated-user",
    "add an ssh key":
      "users_create-public-ssh-key-for-authenticated-user users_create-ssh-signing-key-for-authenticated-user repos_create-deploy-key",
    "how many api requests do I have left": "rate-limit_get",
    "list members of an organization": "orgs_list-members orgs_list-public-members",
    "cancel a running workflow": "actions_cancel-workflow-run actions_force-cancel-workflow-run",
    "delete a repository": "repos_delete",
    "publish a release": "repos_create-release repos_update-release",
    "compare two commits": "repos_compare-commits repos_compare-commits-with-basehead",
    "search for users": "search_users",
    "render markdown": "markdown_render markdown_render-raw",
    "repositories I have starred": "activity_list-repos-starred-by-authenticated-user",
  }),
  ...within("stripe", {
    "charge a card": "PostCharges PostPaymentIntents",
    "create a payment intent": "PostPaymentIntents",
    "remove a customer": "DeleteCustomersCustomer",
    "list all disputes": "GetDisputes GetIssuingDisputes",
    "create a product with a price": "PostProducts PostPrices",
    "pay an invoice": "PostInvoicesInvoicePay",
    "find customers by query": "GetCustomersSearch",
    "transfer money to a bank account": "PostPayouts PostTransfers",
    "list subscriptions": "GetSubscriptions GetCustomersCustomerSubscriptions",
  }),
  ...within("kubernetes", {
    "get a service": "readCoreV1NamespacedService",
    "create a namespace": "createCoreV1Namespace",
    "list config maps":
      "listCoreV1NamespacedConfigMap listCoreV1ConfigMapForAllNamespaces listCoreV1ConfigMapForAllNamespaces_stream listCoreV1NamespacedConfigMap_stream",
    "run a command in a pod":
      "connectCoreV1PostNamespacedPodExec connectCoreV1GetNamespacedPodExec",
    "remove a cron job": "deleteBatchV1NamespacedCronJob deleteBatchV1CollectionNamespacedCronJob",
  }),
  ...within("slack", {
    "send a direct message": "chat_postMessage conversations_open chat_postEphemeral",
    "add an emoji reaction to a message": "reactions_add",
    "who is in this channel": "conversations_members",
    "read the messages of a channel": "conversations_history",
    "delete a message": "chat_delete chat_deleteScheduledMessage",
    "search messages": "search_messages",
    "set do not disturb": "dnd_setSnooze",
    "my identity": "users_identity auth_test",
  }),
  ...within("openai", {
    "moderate text": "createModeration",
    "chat with a model":
      "createChatCompletion createChatCompletion_stream createResponse createResponse_stream",
    "translate audio to english": "createTranslation",
    "fine tune a model": "createFineTuningJob",
    "upload a file": "createFile",
  }),
  ...within("docker", {
    "start a container": "ContainerStart",
    "show container logs": "ContainerLogs",
    "list images": "ImageList",
    "create a network": "NetworkCreate",
    "how much disk space is used": "SystemDataUsage",
    "kill a container": "ContainerKill",
  }),
  ...within("notion", {
    "who am i": "get-self",
    "find a page by title": "post-search",
    "make a new page": "post-page",
    "list users": "get-users",
  }),
  ...within("netlify", {
    "who am i": "getCurrentUser",
    "list my sites": "listSites listSitesForAccount",
    "set an environment variable": "setEnvVarValue createEnvVars updateEnvVar",
    "add a dns record": "createDnsRecord",
    "clear the cache": "purgeCache",
  }),
  ...within("figma", {
    "who am i": "getMe",
    "export an image of a node": "getImages",
    "leave a comment on a file": "postComment",
    "list projects of a team": "getTeamProjects",
  }),
  ...within("box", {
    "who am i": "get_users_me",
    "upload a file": "post_files_content post_files_id_content",
    "create a folder": "post_folders",
    "share a file with someone": "post_collaborations put_files_id_add_shared_link put_files_id",
    "search for content": "get_search",
    "delete a folder": "delete_folders_id delete_folders_id_trash",
  }),
  ...within("petstore", {
    "add a pet": "addPet",
    "find available pets": "findPetsByStatus",
    "remove a pet": "deletePet",
    "who is this user": "getUserByName",
    "upload a photo of a pet": "uploadFile",
  }),
  ...within("museum", {
    "buy tickets": "buyMuseumTickets",
    "what events are there": "listSpecialEvents getSpecialEvent",
    "when is the museum open": "getMuseumHours",
    "cancel an event": "deleteSpecialEvent updateSpecialEvent",
  }),
  ...within("qdrant", {
    "create a collection": "create_collection",
    "nearest neighbour search": "query_points query_batch_points search_points",
    "insert vectors": "upsert_points update_vectors batch_update",
    "delete points": "delete_points",
    "backup a collection": "create_snapshot",
  }),
  ...within("files", {
    "make a directory": "create_directory",
    "find files by name": "search_files",
    "how big is this file": "get_file_info list_directory_with_sizes",
    "change text in a file": "edit_file",
    "save text to a file": "write_file",
    "show folder structure": "directory_tree",
  }),
  ...within("memory", {
    "what do you know about a person": "search_nodes open_nodes read_graph",
    "remember that Ada likes tea": "create_entities add_observations create_relations",
    "recall memories": "search_nodes read_graph open_nodes",
    "link two entities": "create_relations",
  }),
  ...within("everything", {
    "repeat what I say": "echo",
    "sum of two numbers": "get-sum",
    "compress a file": "gzip-file-as-resource",
    "get an image": "get-tiny-image",
  }),
  ...within("notes", {
    "find a note": "find_notes",
    "jot down an idea": "add_note",
  }),
  ...within("money", {
    "exchange currency": "convert",
    "divide costs between friends": "split",
  }),
]

/** Written before, and not looked at while weights were chosen. */
export const HELD_OUT: readonly Question[] = [
  ...within("github", {
    "open a new pull request": "pulls_create",
    "merge a PR": "pulls_merge pulls_merge-async",
    "who follows me": "users_list-followers-for-authenticated-user",
    "change the title of an issue": "issues_update",
    "remove a label from an issue": "issues_remove-label issues_remove-all-labels",
    "latest release of a repo": "repos_get-latest-release",
    "find code containing a string": "search_code",
    "fork a repository": "repos_create-fork",
    "my notifications": "activity_list-notifications-for-authenticated-user",
    "rerun failed jobs": "actions_re-run-workflow-failed-jobs",
  }),
  ...within("stripe", {
    "create a customer": "PostCustomers",
    "give money back for a charge": "PostRefunds PostChargesChargeRefund PostChargesChargeRefunds",
    "cancel a subscription":
      "DeleteSubscriptionsSubscriptionExposedId DeleteCustomersCustomerSubscriptionsSubscriptionExposedId",
    "list invoices of a customer": "GetInvoices",
    "account balance": "GetBalance",
  }),
  ...within("kubernetes", {
    "show logs of a pod": "readCoreV1NamespacedPodLog",
    "scale a deployment":
      "patchAppsV1NamespacedDeploymentScale replaceAppsV1NamespacedDeploymentScale readAppsV1NamespacedDeploymentScale",
    "list all nodes": "listCoreV1Node listCoreV1Node_stream",
    "create a secret": "createCoreV1NamespacedSecret",
  }),
  ...within("slack", {
    "post a message to a channel": "chat_postMessage",
    "remind me later": "reminders_add",
    "find user by email": "users_lookupByEmail",
  }),
  ...within("openai", {
    "convert speech to text": "createTranscription createTranscription_stream",
    "generate a picture from a prompt": "createImage createImage_stream",
  }),
  ...within("docker", {
    "stop a running container": "ContainerStop",
    "remove unused images": "ImagePrune",
  }),
  ...anywhere({
    "print environment variables": "everything.get-env",
    "split the bill": "money.split",
  }),
  ...within("files", {
    "read a file": "read_text_file read_file",
    "rename a file": "move_file",
  }),
  ...within("memory", { "forget something": "delete_entities delete_observations" }),
  ...within("notion", { "add a comment to a page": "create-a-comment" }),
  ...within("petstore", { "buy a pet": "placeOrder" }),
  ...within("netlify", { "roll back a deploy": "rollbackSiteDeploy restoreSiteDeploy" }),
  ...within("github", {
    "list issues assigned to me":
      "issues_list issues_list-for-authenticated-user issues_list-for-org",
    "upload a file to a release": "repos_upload-release-asset",
    "request a review from a colleague": "pulls_request-reviewers",
    "create a branch": "git_create-ref",
    "watch a repository": "activity_set-repo-subscription",
    "languages used in a repository": "repos_list-languages",
    "protect a branch": "repos_update-branch-protection",
    "list organizations I belong to":
      "orgs_list-for-authenticated-user orgs_list-memberships-for-authenticated-user",
    "unfollow somebody": "users_unfollow",
    "create a webhook for a repository": "repos_create-webhook",
  }),
  ...within("stripe", {
    "list payouts": "GetPayouts",
    "retrieve a charge": "GetChargesCharge",
    "update a product": "PostProductsId",
    "delete a coupon": "DeleteCouponsCoupon",
    "void an invoice": "PostInvoicesInvoiceVoid",
  }),
  ...within("kubernetes", {
    "read the status of a node": "readCoreV1NodeStatus",
    "update a deployment": "patchAppsV1NamespacedDeployment replaceAppsV1NamespacedDeployment",
    "list events":
      "listCoreV1NamespacedEvent listCoreV1EventForAllNamespaces listEventsV1NamespacedEvent",
  }),
  ...within("slack", {
    "rename a channel": "conversations_rename admin_conversations_rename",
    "pin a message": "pins_add",
    "leave a channel": "conversations_leave",
  }),
  ...within("docker", {
    "restart a container": "ContainerRestart",
    "build an image from a dockerfile": "ImageBuild",
    "delete a volume": "VolumeDelete",
  }),
  ...within("openai", {
    "generate speech from text": "createSpeech createSpeech_stream",
    "delete a file": "deleteFile",
  }),
  ...within("netlify", { "add a team member": "addMemberToAccount" }),
  ...within("shop", { "place an order": "orders.create", "show all products": "products.list" }),
]
