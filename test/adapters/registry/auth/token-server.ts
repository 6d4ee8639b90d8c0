// A token service for docker-registry. It grants the robot every requested scope and everyone else pulls of public/*,
// and records the requests.
import { createSign, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RegistryLogin } from '../real-registry.ts'

export interface TokenServer {
  readonly host: string
  /** The configuration that makes docker-registry use this service. */
  readonly login: RegistryLogin
  /** The scopes of each request, joined by spaces. */
  readonly scopes: string[]
  close(): Promise<void>
}

/** The robot's password is `secret`. */
export async function startTokenServer(): Promise<TokenServer> {
  const folder = new URL('../loopback-certificate/', import.meta.url)
  const certificate = await readFile(new URL('certificate.pem', folder), 'utf8')
  const key = await readFile(new URL('key.pem', folder), 'utf8')
  const scopes: string[] = []
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://token.test').searchParams
    scopes.push(query.getAll('scope').join(' '))
    const isRobot = request.headers.authorization === `Basic ${btoa('robot:secret')}`
    const access = query.getAll('scope').flatMap((scope) => {
      const [type, name = '', actions = ''] = scope.split(':')
      if (!isRobot && !name.startsWith('public/')) return []
      return [{ type, name, actions: isRobot ? actions.split(',') : ['pull'] }]
    })
    const now = Math.floor(Date.now() / 1000)
    const header = part({
      typ: 'JWT',
      alg: 'ES256',
      x5c: [new X509Certificate(certificate).raw.toString('base64')],
    })
    const claims = part({
      iss: 'test',
      sub: 'robot',
      aud: 'registry.test',
      exp: now + 300,
      nbf: now - 10,
      iat: now,
      jti: String(scopes.length),
      access,
    })
    const signature = createSign('sha256')
      .update(`${header}.${claims}`)
      .sign({ key, dsaEncoding: 'ieee-p1363' })
    response.end(
      JSON.stringify({ token: `${header}.${claims}.${signature.toString('base64url')}`, expires_in: 300 }),
    )
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    login: {
      kind: 'token',
      realm: `http://${host}/token`,
      service: 'registry.test',
      issuer: 'test',
      certificate: new URL('certificate.pem', folder).pathname,
    },
    scopes,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
