// A CONNECT tunnel through the operator's proxy. Reads only the proxy's reply, within a limit.
import { connect as connectPlain, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ProxyServer } from '../../../ports/proxy.ts'
import { RegistryError } from '../registry-error.ts'

/** A proxy's reply to CONNECT is a few lines. */
const maxProxyHeadBytes = 16 * 1024

/** Rejects with a RegistryError (`timeout`, or `network` if the proxy rejects), or the socket's own error. */
export async function openProxyTunnel(
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
        socket.write(formatConnectRequest(proxy, target)),
      )
      let head = Buffer.alloc(0)
      const onData = (piece: Buffer) => {
        head = Buffer.concat([head, piece])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0 && head.length <= maxProxyHeadBytes) return
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

function formatConnectRequest(
  { credential }: ProxyServer,
  { host, port }: { host: string; port: number },
): string {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const { username, password } = credential ?? {}
  const authorization =
    credential === undefined
      ? ''
      : `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`
}
