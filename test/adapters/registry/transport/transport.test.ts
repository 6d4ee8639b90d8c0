// An exchange with servers that drip or flood data, redirect endlessly, or support only old TLS: every limit ends it.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { describe, expect, test } from '@jest/globals'
import { allowLoopbackRegistries } from '../../../../src/adapters/registry/transport/egress-policy.ts'
import { HttpRegistryClient } from '../../../../src/adapters/registry/open-registry.ts'
import {
  RegistryTransport,
  type TransportRequest,
  type TransportLimits,
} from '../../../../src/adapters/registry/transport/transport.ts'
import { createManualClock } from '../manual-clock.ts'
import {
  createStaticCredentialSource,
  loopbackCertificate,
  startScriptedRegistry,
} from '../scripted-registry.ts'
import {
  closeAfterTest,
  registryServer,
  secondRegistryServer,
  startRegistriesBeforeEach,
} from '../registry-fixture.ts'

startRegistriesBeforeEach()

function sendTestTransportRequest(
  more: Partial<TransportRequest> = {},
  limits: Partial<TransportLimits> = {},
) {
  const egress = allowLoopbackRegistries(registryServer.host, secondRegistryServer.host)
  const transport = closeAfterTest(new RegistryTransport({ egress, limits }))
  const url = new URL(`${registryServer.origin}/x`)
  return transport.exchange({ method: 'GET', url, headers: {}, bodyLimit: 1000, redirects: 5, ...more })
}

describe('an exchange ends', () => {
  test('when the body stops arriving', async () => {
    registryServer.script = (_, response) => (response.writeHead(200).write('a'), true)
    await expect(sendTestTransportRequest({}, { bodyTimeout: 100 })).rejects.toMatchObject({
      code: 'timeout',
    })
  })
  test('when a slowly sent body exceeds the total time limit', async () => {
    registryServer.script = (_, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('a'), 20)
      response.on('close', () => clearInterval(drip))
      return true
    }
    await expect(sendTestTransportRequest({}, { exchangeTimeout: 200 })).rejects.toMatchObject({
      code: 'timeout',
    })
  })
  test('while it is still waiting for a connection', async () => {
    registryServer.script = () => true
    const transport = new RegistryTransport({
      egress: allowLoopbackRegistries(registryServer.host),
      limits: { exchangeTimeout: 150, connections: 1 },
    })
    closeAfterTest(transport)
    const one = {
      method: 'GET',
      url: new URL(registryServer.origin),
      headers: {},
      bodyLimit: 1,
      redirects: 0,
    } as const
    const ended = await Promise.allSettled([
      transport.exchange(one),
      transport.exchange(one),
      transport.exchange(one),
    ])
    for (const result of ended)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } })
  })
  test('when it is aborted before or during the request', async () => {
    const stop = new AbortController()
    registryServer.script = () => (stop.abort(), true)
    await expect(sendTestTransportRequest({ signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' })
    await expect(sendTestTransportRequest({ signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' })
    expect(registryServer.requests).toHaveLength(1)
  })
  test('when the body exceeds the limit by one byte or more', async () => {
    registryServer.script = (request, response) =>
      void response.writeHead(200).end(Buffer.alloc(Number(request.query.get('size'))))
    const size = (bytes: number) =>
      sendTestTransportRequest({ url: new URL(`${registryServer.origin}/x?size=${bytes}`) })
    expect((await size(1000)).body).toHaveLength(1000)
    await expect(size(1001)).rejects.toMatchObject({ code: 'too-large' })
    await expect(size(50_000_000)).rejects.toMatchObject({ code: 'too-large' })
  })
  test('with only the beginning of a long error response body', async () => {
    registryServer.script = (_, response) => void response.writeHead(404).end(Buffer.alloc(5_000_000, 'e'))
    const reply = await sendTestTransportRequest()
    expect(reply.status).toBe(404)
    expect(reply.body.length).toBeLessThanOrEqual(65_536)
  })
})

describe('redirects', () => {
  test.each([0, 1, 3, 5])('%i are followed if the limit allows that many, and no more', async (redirects) => {
    registryServer.script = ({ query }, response) => {
      const left = Number(query.get('left'))
      if (left === 0) response.writeHead(200).end('there')
      else response.writeHead(302, { location: `/x?left=${left - 1}` }).end()
    }
    const far = (left: number) =>
      sendTestTransportRequest({ url: new URL(`${registryServer.origin}/x?left=${left}`), redirects })
    expect(Buffer.from((await far(redirects)).body).toString()).toBe('there')
    await expect(far(redirects + 1)).rejects.toMatchObject({ code: 'blocked' })
  })
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'of a %s request are not followed',
    async (method) => {
      registryServer.script = (_, response) =>
        void response.writeHead(307, { location: `${secondRegistryServer.origin}/x` }).end()
      expect((await sendTestTransportRequest({ method, body: 'secret' })).status).toBe(307)
      expect(secondRegistryServer.requests).toHaveLength(0)
    },
  )
  test('a 401 from a redirect target is not a challenge, so no host receives the password', async () => {
    registryServer.script = (_, response) =>
      void response.writeHead(307, { location: `${secondRegistryServer.origin}/x` }).end()
    secondRegistryServer.script = (_, response) =>
      void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    const both = { kind: 'basic', username: 'u', password: 'p' } as const
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: allowLoopbackRegistries(registryServer.host, secondRegistryServer.host),
      credentials: [
        createStaticCredentialSource({ [registryServer.host]: both, [secondRegistryServer.host]: both }),
      ],
    })
    expect(await client.resolve(`${registryServer.host}/a/b:1`)).toMatchObject({ kind: 'missing-or-private' })
    for (const { headers } of [...registryServer.requests, ...secondRegistryServer.requests])
      expect(headers.authorization).toBeUndefined()
    await client.close()
  })
})

describe('TLS', () => {
  const key = readFileSync(new URL('../loopback-certificate/key.pem', import.meta.url))
  test('versions before 1.2 are not accepted', async () => {
    const old = createServer({
      key,
      cert: loopbackCertificate,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    old.on('tlsClientError', () => undefined)
    await new Promise<void>((ready) => old.listen(0, '127.0.0.1', ready))
    const host = `127.0.0.1:${(old.address() as AddressInfo).port}`
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: { internal: { [host]: ['127.0.0.1/32'] }, certificates: { '127.0.0.1': loopbackCertificate } },
    })
    expect(await client.resolve(`${host}/a/b:1`)).toMatchObject({ kind: 'unknown' })
    await client.close()
    await new Promise((done) => old.close(done))
  })
  test("a host's certificate is trusted only for that host, and only for its port if it has one", async () => {
    const secure = await startScriptedRegistry({ tls: true })
    secure.add('a/b', '1')
    const resolveByName = async (name: string) => {
      const client = new HttpRegistryClient({
        clock: createManualClock(),
        egress: {
          internal: { [secure.host]: ['127.0.0.1/32'] },
          certificates: { [name]: loopbackCertificate },
        },
      })
      const answer = await client.resolve(`${secure.host}/a/b:1`)
      await client.close()
      return answer
    }
    for (const name of ['127.0.0.1', secure.host])
      expect(await resolveByName(name)).toMatchObject({ kind: 'ok' })
    for (const name of ['127.0.0.2', '127.0.0.1:443'])
      expect(await resolveByName(name)).toMatchObject({
        kind: 'unknown',
        reason: expect.stringContaining('TLS'),
      })
    await secure.close()
  })
})
