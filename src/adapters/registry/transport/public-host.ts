// Decides from a name or an address alone whether a host is public.
import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

// Names that mean this machine or network wherever they are resolved.
const internalDomainSuffixes = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'svc',
  'arpa',
]

// ipaddr.js calls some dead or translated IPv6 ranges unicast; only 2000::/3 is allocated.
const [globalNetwork, globalBits] = ipaddr.IPv6.parseCIDR('2000::/3')

export function isGlobalUnicast(address: IpAddress): boolean {
  const isHandedOut = address.kind() === 'ipv4' || address.match(globalNetwork, globalBits)
  return address.range() === 'unicast' && isHandedOut
}

export function canonicalizeHostname(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
}

/** `hostname` is canonical. */
export function isInternalHostname(hostname: string): boolean {
  const labels = hostname.split('.')
  // Resolvers complete a single label with their search domains.
  return labels.length === 1 || internalDomainSuffixes.includes(labels.at(-1) ?? '') || labels.includes('svc')
}

/** Whether a host could be public. Does not resolve names. */
export function isPublicHost(hostname: string): boolean {
  const host = canonicalizeHostname(hostname)
  return ipaddr.isValid(host) ? isGlobalUnicast(ipaddr.process(host)) : !isInternalHostname(host)
}
