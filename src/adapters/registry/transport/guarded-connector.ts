// Connects undici to vetted addresses only. Resolves once and connects to a checked address, which prevents DNS
// rebinding. Literal addresses skip `lookup` hooks, so they are checked here too.
import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import type { EgressPolicy } from './egress-policy.ts'
import { openProxyTunnel } from './proxy-tunnel.ts'
import { canonicalizeHostname } from './public-host.ts'
import { RegistryError } from '../registry-error.ts'

/** Every address of a name, in the order to try them. Rejects if the name has no address. */
export type ResolveHostname = (hostname: string) => Promise<readonly string[]>

// IPv4 first: without an IPv6 route, each such address would cost a failed attempt.
const resolveHostnameWithSystem: ResolveHostname = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'ipv4first' })).map(({ address }) => address)

/** A connector for undici's Agent. Fails with RegistryErrors `blocked`, `dns`, or the socket's own errors. */
export function createGuardedConnector(
  policy: EgressPolicy,
  options: { readonly connectTimeout: number; readonly resolve?: ResolveHostname | undefined },
): buildConnector.connector {
  const resolve = options.resolve ?? resolveHostnameWithSystem
  const connectors = new Map<string, buildConnector.connector>()

  function connectorFor(hostname: string): buildConnector.connector {
    const certificate = policy.certificateOf(hostname)
    const key = certificate === undefined ? '' : hostname
    let connector = connectors.get(key)
    if (!connector) {
      connector = buildConnector({
        timeout: options.connectTimeout,
        allowH2: false,
        // Shared, because rereading the root certificates for each connection costs milliseconds.
        secureContext: createSecureContext({
          minVersion: 'TLSv1.2',
          ...(certificate !== undefined && { ca: [...getCACertificates('default'), certificate] }),
        }),
      })
      connectors.set(key, connector)
    }
    return connector
  }

  async function connect(target: buildConnector.Options): Promise<Parameters<buildConnector.Callback>> {
    const hostname = canonicalizeHostname(target.hostname)
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
    const proxyRoute = target.protocol === 'https:' ? policy.proxyTo(hostname, port) : undefined
    // The policy has already checked the name. The proxy resolves it.
    const isNamed = proxyRoute?.by === 'name' && !isIP(hostname)
    const addresses = isNamed || isIP(hostname) ? [hostname] : await resolveAddresses(hostname, resolve)
    if (!isNamed) policy.checkAddresses(hostname, port, addresses)
    let failure: Error = new RegistryError('dns', `${hostname} has no address`)
    for (const address of addresses) {
      const { servername: _, ...rest } = target
      const vetted: buildConnector.Options = {
        ...rest,
        hostname: address,
        // The certificate must be the name's, not the address's.
        ...(target.protocol === 'https:' && !isIP(hostname) && { servername: hostname }),
      }
      let tunnel: Socket | undefined
      try {
        tunnel =
          proxyRoute &&
          (await openProxyTunnel(proxyRoute.proxy, { host: address, port }, options.connectTimeout))
      } catch (error) {
        failure = error as Error
        continue
      }
      const [error, socket] = await new Promise<Parameters<buildConnector.Callback>>((done) =>
        connectorFor(hostname)({ ...vetted, ...(tunnel && { httpSocket: tunnel }) }, (...result) =>
          done(result),
        ),
      )
      if (socket) return [null, socket]
      tunnel?.destroy()
      failure = error ?? failure
    }
    return [failure, null]
  }

  return (target, callback) => {
    connect(target).then(
      (result) => callback(...result),
      (error: unknown) => callback(error as Error, null),
    )
  }
}

async function resolveAddresses(hostname: string, resolve: ResolveHostname): Promise<readonly string[]> {
  try {
    return await resolve(hostname)
  } catch (cause) {
    throw new RegistryError('dns', `cannot resolve ${hostname}`, { cause })
  }
}
