// Signs in as a user would who says yes to everything: the "browser" is one request.

import { auth } from "@modelcontextprotocol/client"
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client"

type About = { readonly issuer: string } | undefined

const CALLBACK = "http://localhost:3000/callback"

/** An OAuth client that keeps all it learns in memory, by who issued it. */
export class Login implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadataUrl = "https://conformance-test.local/client-metadata.json"
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: "operations-conformance",
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native",
  }
  readonly #serverUrl: string
  readonly #registered: StoredOAuthClientInformation | undefined
  readonly #clients = new Map<string, StoredOAuthClientInformation>()
  readonly #tokens = new Map<string, StoredOAuthTokens>()
  #last: StoredOAuthTokens | undefined
  #verifier = ""
  #state: OAuthDiscoveryState | undefined
  /** What came back from the page to sign in at. */
  #answer: URLSearchParams | undefined

  constructor(serverUrl: string, registered?: StoredOAuthClientInformation) {
    this.#serverUrl = serverUrl
    this.#registered = registered
  }

  /**
   * Runs something that may need a login, and runs it again after one.
   *
   * Signing in more than twice for one thing does not help: it is the server that says no.
   */
  async during<TResult>(action: () => Promise<TResult>): Promise<TResult> {
    for (let logins = 0; ; logins++) {
      try {
        return await action()
      } catch (error) {
        if (this.#answer === undefined || logins === 2) throw error
        await this.#finish()
      }
    }
  }

  async #finish(): Promise<void> {
    const authorizationCode = this.#answer?.get("code") ?? ""
    const iss = this.#answer?.get("iss")
    this.#answer = undefined
    const serverUrl = this.#serverUrl
    await auth(this, { serverUrl, authorizationCode, ...(typeof iss === "string" && { iss }) })
    // Only what belongs to one login: a server may have moved to another one's care by the next.
    this.#state = undefined
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const response = await fetch(url, { redirect: "manual" })
    const location = response.headers.get("location")
    if (location === null) throw new Error(`${url.origin} did not redirect: ${response.status}.`)
    this.#answer = new URL(location).searchParams
  }

  clientInformation(about?: About): StoredOAuthClientInformation | undefined {
    return this.#registered ?? this.#clients.get(about?.issuer ?? "")
  }

  saveClientInformation(client: StoredOAuthClientInformation, about?: About): void {
    this.#clients.set(about?.issuer ?? "", client)
  }

  tokens(about?: About): StoredOAuthTokens | undefined {
    return about === undefined ? this.#last : this.#tokens.get(about.issuer)
  }

  saveTokens(tokens: StoredOAuthTokens, about?: About): void {
    this.#last = tokens
    this.#tokens.set(about?.issuer ?? "", tokens)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#state = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#state
  }

  invalidateCredentials(which: string): void {
    if (which === "all" || which === "tokens") {
      this.#tokens.clear()
      this.#last = undefined
    }
    if (which === "all" || which === "client") this.#clients.clear()
    if (which === "all" || which === "discovery") this.#state = undefined
  }
}
