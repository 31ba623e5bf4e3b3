/** Whether anyone on the way could read what is sent to an address: no TLS, and not this machine. */
export function isReadableOnTheWay({ protocol, hostname }: URL): boolean {
  return !/^https|^wss/.test(protocol) && !LOOPBACK.test(hostname)
}

/** Hosts of this machine itself, as the URL parser spells them: what ends in a number is an address. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/
