// A proxy that only tunnels (CONNECT), and servers behind it with certificates from a test CA, as in a company network.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'

export interface CertificateAuthority {
  /** The path of the CA certificate in PEM format. */
  readonly certificateFile: string
  readonly issueCertificate: (hostname: string) => { readonly key: Buffer; readonly cert: Buffer }
}

export function createCertificateAuthority(directory: string): CertificateAuthority {
  mkdirSync(directory, { recursive: true })
  const at = (name: string) => join(directory, name)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-subj',
    '/CN=Test authority',
    '-days',
    '2',
  )
  return {
    certificateFile: at('ca.pem'),
    issueCertificate(hostname) {
      const own = (extension: string) => at(`${hostname}.${extension}`)
      openssl('req', ...key, '-keyout', own('key'), '-out', own('csr'), '-subj', `/CN=${hostname}`)
      writeFileSync(own('ext'), `subjectAltName=DNS:${hostname}\n`)
      openssl('x509', '-req', '-in', own('csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', own('ext'), '-out', own('pem')) // prettier-ignore
      return { key: readFileSync(own('key')), cert: readFileSync(own('pem')) }
    },
  }
}

export interface TestServer {
  readonly port: number
  close(): Promise<void>
}

/** Terminates TLS for a hostname, and forwards the traffic to a plain server on this machine. */
export async function startTlsTerminator(
  keys: ReturnType<CertificateAuthority['issueCertificate']>,
  behind: number,
): Promise<TestServer> {
  const open = new Set<{ destroy(): unknown }>()
  const server = createTlsServer(keys, (socket) => {
    const inner = connect(behind, '127.0.0.1')
    for (const one of [socket, inner]) {
      open.add(one)
      one.on('error', () => [socket, inner].forEach((each) => each.destroy()))
      one.on('close', () => open.delete(one))
    }
    socket.pipe(inner).pipe(socket)
  })
  return listenOnFreePort(server as unknown as Server, open)
}

export interface ForwardProxy extends TestServer {
  /** The requested `host:port` values in order, including rejected ones. */
  readonly requestedHosts: string[]
}

/** Tunnels to the ports in `routes` by `host:port`, for clients with the credential. */
export async function startForwardProxy(
  routes: Readonly<Record<string, number>>,
  credential?: string,
): Promise<ForwardProxy> {
  const requestedHosts: string[] = []
  const open = new Set<{ destroy(): unknown }>()
  const server = createServer((_request, response) => void response.writeHead(400).end())
  server.on('connect', (request, socket: Socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open.delete(socket))
    const wanted = credential && `Basic ${Buffer.from(credential).toString('base64')}`
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="test"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n') // prettier-ignore
    requestedHosts.push(request.url ?? '')
    const port = routes[request.url ?? '']
    if (port === undefined) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const inner = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(inner).pipe(socket)
    })
    open.add(inner)
    inner.on('error', () => socket.destroy())
    inner.on('close', () => open.delete(inner))
  })
  return { ...(await listenOnFreePort(server, open)), requestedHosts }
}

async function listenOnFreePort(
  server: Server,
  open: ReadonlySet<{ destroy(): unknown }>,
): Promise<TestServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const one of open) one.destroy()
      }),
  }
}
