/** Refuses invalid addresses, and those with a password: addresses appear in lists and logs. */
export function address(
  schemes: readonly string[],
  instead = "Put them into headers, and refer to them: ${env:NAME}.",
) {
  return (value: string): string | undefined => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url !== undefined && !schemes.includes(url.protocol.slice(0, -1))) {
      return `must start with ${schemes.map((scheme) => `"${scheme}://"`).join(" or ")}.`
    }
    if (url === undefined || url.hostname === "") {
      return `is not an address. Write it in full, such as "${schemes[0]}://example.com".`
    }
    return url.username === "" && url.password === ""
      ? undefined
      : `must not contain a user or a password. ${instead}`
  }
}
