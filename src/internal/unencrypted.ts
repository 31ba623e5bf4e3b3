/** Whether traffic to an address can be read on the network: no TLS, and not this machine. */
export function isUnencrypted({ protocol, hostname }: URL): boolean {
  return !/^https|^wss/.test(protocol) && !LOOPBACK.test(hostname)
}

/** Hosts of this machine, as the URL parser spells them: a host that ends in a number is an address. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/
