// Makes connections for undici, to vetted addresses only. The name is resolved once, every address is checked,
// and the socket goes to a checked address: a name that resolves differently a moment later gains nothing, and
// literal addresses, for which a `lookup` hook is never called, are checked the same way.
import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import type { EgressPolicy } from './egress-policy.ts'
import { openTunnel } from './proxy-tunnel.ts'
import { canonicalHostname } from './public-host.ts'
import { RegistryError } from '../registry-error.ts'

/** Every address of a name, in the order to try them. Rejects when there is none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

// IPv4 first: where a machine has no route to IPv6, each such address would cost a failed attempt.
const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'ipv4first' })).map(({ address }) => address)

/** A connector for undici's Agent. Fails with RegistryErrors `blocked`, `dns`, or the socket's own errors. */
export function guardedConnector(
  policy: EgressPolicy,
  options: { readonly connectTimeout: number; readonly resolve?: Resolve | undefined },
): buildConnector.connector {
  const resolve = options.resolve ?? resolveBySystem
  const connectors = new Map<string, buildConnector.connector>()

  function connectorFor(hostname: string): buildConnector.connector {
    const certificate = policy.certificateOf(hostname)
    const key = certificate === undefined ? '' : hostname
    let connector = connectors.get(key)
    if (!connector) {
      connector = buildConnector({
        timeout: options.connectTimeout,
        allowH2: false,
        // One for all connections: reading the root certificates again for each costs milliseconds.
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
    const hostname = canonicalHostname(target.hostname)
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
    const way = target.protocol === 'https:' ? policy.proxyTo(hostname, port) : undefined
    // The policy has seen the name itself already; its addresses are the proxy's to know.
    const isNamed = way?.by === 'name' && !isIP(hostname)
    const addresses = isNamed || isIP(hostname) ? [hostname] : await resolveName(hostname, resolve)
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
        tunnel = way && (await openTunnel(way.proxy, { host: address, port }, options.connectTimeout))
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

async function resolveName(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(hostname)
  } catch (cause) {
    throw new RegistryError('dns', `${hostname} cannot be resolved`, { cause })
  }
}
