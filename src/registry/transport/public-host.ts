// What is on the public internet, by a name or an address alone: one answer for the registries that are asked and for the
// address under which GitHub reaches the bot.
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

// Names that mean this machine or this network wherever they are resolved, so they need no address to be refused.
const internalSuffixes = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'svc', 'arpa']

// ipaddr.js calls some dead or translated IPv6 ranges unicast; only 2000::/3 is ever handed out.
const [globalNetwork, globalBits] = ipaddr.IPv6.parseCIDR('2000::/3')

export function isGlobalUnicast(address: Address): boolean {
  const isHandedOut = address.kind() === 'ipv4' || address.match(globalNetwork, globalBits)
  return address.range() === 'unicast' && isHandedOut
}

/** Host name as policies compare it: lower case, no brackets around IPv6, no final dot. */
export function canonicalHostname(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
}

/** `hostname` is canonical. */
export function isInternalName(hostname: string): boolean {
  const labels = hostname.split('.')
  // A name of one label is completed with the resolver's own search domains.
  return labels.length === 1 || internalSuffixes.includes(labels.at(-1) ?? '') || labels.includes('svc')
}

/** Whether a host could be on the public internet: a name is not resolved. */
export function isPublicHost(hostname: string): boolean {
  const host = canonicalHostname(hostname)
  return ipaddr.isValid(host) ? isGlobalUnicast(ipaddr.process(host)) : !isInternalName(host)
}
