// Decides where registry requests may connect. An image reference chooses a host, which chooses realms and redirects,
// so every hop and every resolved address is checked.
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ProxyServer } from '../../../ports/proxy.ts'
import { RegistryError } from '../registry-error.ts'

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

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

export interface EgressOptions {
  /** Hosts (`host` or `host:port`, exact) to reach without TLS. */
  readonly plainHttp?: readonly string[]
  /** Hosts (`host` or `host:port`, exact) that may have these otherwise forbidden addresses (CIDRs). */
  readonly internal?: Readonly<Record<string, readonly string[]>>
  /** If set, no other host (`host` or `host:port`, exact) is contacted, including realms and redirects. */
  readonly onlyHosts?: readonly string[]
  /** Additional token hosts that may receive a registry's credentials: `{'registry.example': ['sso.example']}`. */
  readonly tokenHosts?: Readonly<Record<string, readonly string[]>>
  /** PEM certificates to trust in addition to the system's, by `host` (for all ports) or `host:port`. */
  readonly certificates?: Readonly<Record<string, string>>
  /** The operator's proxy. */
  readonly proxy?: EgressProxy
}

export interface EgressProxy {
  /** Undefined means a direct connection. */
  readonly to: (url: URL) => ProxyServer | undefined
  /**
   * `address`: catalog-bot resolves and checks the name, and passes a checked address to the proxy. `name`: the
   * operator trusts the proxy to resolve it and to block non-public addresses.
   */
  readonly by: 'address' | 'name'
}

/** Besides those of the hosts that the options list. */
const allowedPorts: ReadonlySet<number> = new Set([443, 80, 5000, 5001, 8443])

const maxCachedRegistryOrigins = 1000

// Public by registry, but served by the cloud's own infrastructure.
const cloudMetadataRange = parseCidr('168.63.129.16/32')

// Token services outside their registry's domain.
const tokenHostsByRegistryHost: Readonly<Record<string, readonly string[]>> = {
  'registry-1.docker.io': ['auth.docker.io'],
  'registry.redhat.io': ['sso.redhat.com'],
  'registry.connect.redhat.com': ['sso.redhat.com'],
  'registry.gitlab.com': ['gitlab.com'],
}

/** Throws a RangeError for an invalid CIDR in the options. */
export class EgressPolicy {
  readonly #options: EgressOptions
  readonly #plainHttp
  readonly #only
  readonly #internal
  readonly #tokenHosts
  readonly #listedPorts
  // Origins that passed. Thousands of references share a few origins, and the options never change.
  readonly #passed = new Set<string>()

  constructor(options: EgressOptions = {}) {
    this.#options = options
    this.#plainHttp = new Set((options.plainHttp ?? []).map(lowercaseHost))
    this.#only = options.onlyHosts && new Set(options.onlyHosts.map(lowercaseHost))
    this.#internal = new Map(
      Object.entries(options.internal ?? {}).map(([host, cidrs]) => [
        lowercaseHost(host),
        cidrs.map(parseCidr),
      ]),
    )
    this.#tokenHosts = new Map(
      [...Object.entries(tokenHostsByRegistryHost), ...Object.entries(options.tokenHosts ?? {})].map(
        ([host, realms]) => [lowercaseHost(host), realms.map(lowercaseHost)] as const,
      ),
    )
    this.#listedPorts = new Set(
      [...this.#plainHttp, ...this.#internal.keys()].filter((host) => /:\d+$/.test(host)),
    )
  }

  /** Throws a RegistryError `blocked` when the URL must not be requested. */
  readonly checkUrl = (url: URL): void => {
    if (url.username !== '' || url.password !== '')
      throw createBlockedHostError(`a URL for ${url.host} contains a user name or password`)
    // Other schemes share the origin "null".
    const key = `${url.protocol}//${url.host}`
    if (this.#passed.has(key)) return
    this.#checkHost(url)
    if (this.#passed.size >= maxCachedRegistryOrigins) this.#passed.clear()
    this.#passed.add(key)
  }

  /**
   * Throws a RegistryError `blocked` if `to` is an internal host that the operator opened and `from` is not, so that an
   * untrusted registry cannot redirect catalog-bot there.
   */
  readonly checkHop = (from: URL, to: URL): void => {
    const isOpenedInternal = (url: URL) =>
      this.#getInternalRanges(canonicalizeHostname(url.hostname), getUrlPort(url)) !== undefined
    if (isOpenedInternal(to) && !isOpenedInternal(from))
      throw createBlockedHostError(`${from.host} redirects to ${to.host}, which is on an internal network`)
  }

  /** Throws a RegistryError `blocked` unless every address is allowed for this host and port. */
  readonly checkAddresses = (host: string, port: number, addresses: readonly string[]): void => {
    const hostname = canonicalizeHostname(host)
    if (addresses.length === 0) throw new RegistryError('dns', `${hostname} has no address`)
    // One bad address among good ones indicates DNS rebinding, so the whole name is rejected.
    for (const address of addresses) this.#checkAddress(hostname, port, address)
  }

  readonly schemeOf = (host: string): 'https:' | 'http:' => {
    const name = lowercaseHost(host)
    return this.#plainHttp.has(name) || this.#plainHttp.has(`${name}:80`) ? 'http:' : 'https:'
  }

  /** True when credentials for `host` may be sent to the token service at `realm`. */
  readonly mayShareCredentials = (host: string, realm: URL): boolean => {
    const name = lowercaseHost(host)
    const realmHost = realm.host.toLowerCase()
    if (realmHost === name) return true
    if (this.#tokenHosts.get(name)?.includes(realmHost)) return true
    // Only the registry's owner controls its subdomains. Parent and sibling domains may belong to others.
    return (
      realm.protocol === 'https:' && realm.port === '' && realmHost.endsWith(`.${name.replace(/:443$/, '')}`)
    )
  }

  readonly certificatesOf = (hostname: string, port: number): readonly string[] =>
    toListedHosts(hostname, port).flatMap((host) => this.#options.certificates?.[host] ?? [])

  /** The proxy for an https origin, if any. */
  readonly proxyTo = (
    hostname: string,
    port: number,
  ): { readonly proxy: ProxyServer; readonly by: EgressProxy['by'] } | undefined => {
    const { proxy: egressProxy } = this.#options
    const url = new URL(`https://${toListedHosts(hostname, port)[1]}`)
    const proxy = egressProxy?.to(url)
    return egressProxy && proxy && { proxy, by: egressProxy.by }
  }

  #getInternalRanges(hostname: string, port: number): readonly CidrRange[] | undefined {
    const [host, hostAndPort] = toListedHosts(hostname, port)
    return this.#internal.get(hostAndPort) ?? this.#internal.get(host)
  }

  #checkAddress(hostname: string, port: number, address: string): void {
    const parsed = ipaddr.isValid(address) ? ipaddr.process(address) : undefined
    if (!parsed) throw createBlockedHostError(`"${address}" is not an IP address`)
    if (this.#getInternalRanges(hostname, port)?.some((cidr) => isInCidr(cidr, parsed))) return
    if (!isGlobalUnicast(parsed) || isInCidr(cloudMetadataRange, parsed))
      throw createBlockedHostError(
        canonicalizeHostname(address) === hostname
          ? `${address} is not a public address`
          : `${hostname} resolves to ${address}, which is not a public address`,
      )
  }

  #checkHost(url: URL): void {
    const hostname = canonicalizeHostname(url.hostname)
    const port = getUrlPort(url)
    const [host, hostAndPort] = toListedHosts(hostname, port)
    const isPlain = this.#plainHttp.has(hostAndPort) || (this.#plainHttp.has(host) && port === 80)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlain))
      throw createBlockedHostError(`${url.host} requires TLS, but the URL uses ${url.protocol}//`)
    if (this.#only && !this.#only.has(host) && !this.#only.has(hostAndPort))
      throw createBlockedHostError(`${url.host} is not one of the allowed registries`)
    if (!allowedPorts.has(port) && !this.#listedPorts.has(hostAndPort))
      throw createBlockedHostError(`port ${port} on ${hostname} is not an allowed registry port`)
    if (ipaddr.isValid(hostname)) this.#checkAddress(hostname, port, hostname)
    else if (!this.#getInternalRanges(hostname, port) && isInternalHostname(hostname))
      throw createBlockedHostError(`"${hostname}" is an internal host name`)
  }
}

/** Opens only these hosts, on loopback without TLS: for the sandbox and tests. */
export function allowLoopbackRegistries(...hosts: readonly string[]): EgressOptions {
  return {
    plainHttp: hosts,
    internal: Object.fromEntries(hosts.map((host) => [host, ['127.0.0.0/8', '::1/128']])),
  }
}

function getUrlPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
}

type CidrRange = readonly [IpAddress, number]

function parseCidr(text: string): CidrRange {
  try {
    return ipaddr.parseCIDR(text)
  } catch (cause) {
    throw new RangeError(`invalid address range: ${text}`, { cause })
  }
}

function isInCidr([network, bits]: CidrRange, address: IpAddress): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

const createBlockedHostError = (message: string): RegistryError => new RegistryError('blocked', message)

/** How the options list a canonical host: an IPv6 address has brackets, as in a URL. */
function toListedHosts(hostname: string, port: number): [host: string, hostAndPort: string] {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  return [host, `${host}:${port}`]
}

// With ipaddr.js, this would take a tenth of the processor time of an image lookup.
const lowercaseHost = (text: string): string => (isIPv6(text) ? `[${text}]` : text).toLowerCase()

/** Decides from a name or an address alone whether a host is public. */
function isGlobalUnicast(address: IpAddress): boolean {
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
function isInternalHostname(hostname: string): boolean {
  const labels = hostname.split('.')
  // Resolvers complete a single label with their search domains.
  return labels.length === 1 || internalDomainSuffixes.includes(labels.at(-1) ?? '') || labels.includes('svc')
}

/** Whether a host could be public. Does not resolve names. */
export function isPublicHost(hostname: string): boolean {
  const host = canonicalizeHostname(hostname)
  return ipaddr.isValid(host) ? isGlobalUnicast(ipaddr.process(host)) : !isInternalHostname(host)
}
