// Connects undici to vetted addresses only. Resolves once and connects to a checked address, which prevents DNS
// rebinding. Literal addresses skip `lookup` hooks, so they are checked here too.
import { lookup } from 'node:dns/promises'
import { isIP, type Socket, connect as connectPlain, isIPv6 } from 'node:net'
import { createSecureContext, getCACertificates, connect as connectTls } from 'node:tls'
import { buildConnector } from 'undici'
import { type EgressPolicy, canonicalizeHostname } from './egress-policy.ts'
import { RegistryError } from '../registry-error.ts'
import { formatBasicAuthorization, type ProxyServer } from '../../../ports/proxy.ts'

/** A proxy's reply to CONNECT is a few lines. */
const maxProxyResponseHeaderBytes = 16 * 1024

/** Every address of a name, in the order to try them. Rejects if the name has no address. */
export type HostnameResolver = (hostname: string) => Promise<readonly string[]>

// IPv4 first: without an IPv6 route, each such address would cost a failed attempt.
const resolveHostnameWithOsResolver: HostnameResolver = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'ipv4first' })).map(({ address }) => address)

/** A connector for undici's Agent. Fails with RegistryErrors `blocked`, `dns`, or the socket's own errors. */
export function createEgressPolicyConnector(
  policy: EgressPolicy,
  options: { readonly connectTimeout: number; readonly resolve?: HostnameResolver | undefined },
): buildConnector.connector {
  const resolve = options.resolve ?? resolveHostnameWithOsResolver
  const connectors = new Map<string, buildConnector.connector>()

  function connectorFor(hostname: string, port: number): buildConnector.connector {
    const certificates = policy.certificatesOf(hostname, port)
    const key = certificates.length === 0 ? '' : `${hostname}:${port}`
    let connector = connectors.get(key)
    if (!connector) {
      connector = buildConnector({
        timeout: options.connectTimeout,
        allowH2: false,
        // Shared, because rereading the root certificates for each connection costs milliseconds.
        secureContext: createSecureContext({
          minVersion: 'TLSv1.2',
          ...(certificates.length > 0 && { ca: [...getCACertificates('default'), ...certificates] }),
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
    const addresses = isNamed || isIP(hostname) ? [hostname] : await resolveHostAddresses(hostname, resolve)
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
        connectorFor(hostname, port)({ ...vetted, ...(tunnel && { httpSocket: tunnel }) }, (...result) =>
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

async function resolveHostAddresses(hostname: string, resolve: HostnameResolver): Promise<readonly string[]> {
  try {
    return await resolve(hostname)
  } catch (cause) {
    throw new RegistryError('dns', `cannot resolve ${hostname}`, { cause })
  }
}

/** Rejects with a RegistryError (`timeout`, or `network` if the proxy rejects), or the socket's own error. */
async function openProxyTunnel(
  proxy: ProxyServer,
  target: { readonly host: string; readonly port: number },
  milliseconds: number,
): Promise<Socket> {
  const { hostname, port, isTls } = proxy
  const socket = isTls
    ? connectTls({ host: hostname, port, servername: hostname })
    : connectPlain(port, hostname)
  try {
    return await new Promise<Socket>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new RegistryError('timeout', 'the proxy did not respond in time')),
        milliseconds,
      )
      socket.once('error', reject)
      socket.once('close', () => reject(new RegistryError('network', 'the proxy closed the connection')))
      socket.once(isTls ? 'secureConnect' : 'connect', () =>
        socket.write(formatProxyConnectRequest(proxy, target)),
      )
      let head = Buffer.alloc(0)
      const onData = (piece: Buffer) => {
        head = Buffer.concat([head, piece])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0 && head.length <= maxProxyResponseHeaderBytes) return
        socket.off('data', onData)
        socket.pause()
        clearTimeout(timer)
        const status =
          end < 0 ? undefined : /^HTTP\/1\.[01] (?<status>\d{3})\b/.exec(head.toString('latin1'))?.groups
        if (status?.['status'] !== '200')
          return reject(
            new RegistryError(
              'network',
              `the proxy rejected the connection (${status?.['status'] ?? 'not an HTTP response'})`,
            ),
          )
        // In TLS, the client sends first, so early bytes don't come from the server.
        if (head.length > end + 4)
          return reject(new RegistryError('network', 'the proxy sent unexpected data'))
        socket.removeAllListeners('error').removeAllListeners('close')
        resolve(socket)
      }
      socket.on('data', onData)
      socket.once('close', () => clearTimeout(timer))
    })
  } catch (error) {
    socket.on('error', () => undefined)
    socket.destroy()
    throw error
  }
}

function formatProxyConnectRequest(
  { credential }: ProxyServer,
  { host, port }: { host: string; port: number },
): string {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const authorization =
    credential === undefined ? '' : `Proxy-Authorization: ${formatBasicAuthorization(credential)}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`
}
