/** Whether traffic to an address can be read on the network: no TLS, and not this machine. */
export function isUnencrypted({ protocol, hostname }: URL): boolean {
  if (/^https|^wss/.test(protocol)) return false
  return !isLoopback(hostname) && !hostname.endsWith(".localhost")
}

/** Whether a host is this machine, which others cannot reach, in any spelling that a URL or a socket has for it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.toLowerCase().replace(/^\[|\]$/g, ""))
}

const LOOPBACK =
  /^(?:localhost|::1|(?:::ffff:)?127(?:\.\d{1,3}){3}|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/
