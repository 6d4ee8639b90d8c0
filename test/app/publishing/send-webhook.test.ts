// The signed request against a server of the test's own: what it gets can be verified as GitHub's webhooks are.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { doPublishOrder } from '../../../src/app/publishing/do-publish-order.ts'
import type { PublishRoom } from '../../../src/app/publishing/publish-room.ts'
import type { PublishOrder } from '../../../src/app/publishing/publish-order.ts'
import { parsePushTargets } from '../../../src/app/publishing/push-targets.ts'
import { loopbackRegistries } from '../../../src/registry/transport/egress-policy.ts'
import { openTransport, type Transport } from '../../../src/registry/transport/transport.ts'

const secret = 'a secret of the operator'
let server: Server
let transport: Transport
let host: string
let got: { request: IncomingMessage; body: string }[]
let answer: { status: number; body: string; headers?: Record<string, string> }
let room: PublishRoom

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      got.push({ request, body })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  transport = openTransport({ egress: loopbackRegistries(host) })
  room = {
    targets: parsePushTargets(
      `[{github: coast/operators, webhooks: [{url: 'http://${host}/hook', secret: hook.secret}, {url: 'http://10.1.2.3/hook', secret: s}]}]`,
    ),
    registryFor: () => Promise.reject(new Error('no registry is asked')),
    mirrorAt: () => Promise.reject(new Error('no tree is read')),
    secretOf: (file) => Promise.resolve(file === 'hook.secret' ? secret : ''),
    transport,
    closedHosts: [],
    version: '1.2.3',
    now: () => Date.UTC(2026, 10, 22),
  }
})
beforeEach(() => {
  got = []
  answer = { status: 202, body: '' }
})
afterAll(async () => {
  await transport.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const asking = { github: { owner: 'coast', name: 'operators' }, installation: 7 }
const url = () => `http://${host}/hook`
const deliver = (more: Partial<PublishOrder> = {}) =>
  doPublishOrder(
    {
      kind: 'deliver',
      ...asking,
      url: url(),
      delivery: 'd1',
      payload: { commit: 'c', timestamp: 'theirs' },
      ...more,
    } as PublishOrder,
    room,
    () => Promise.resolve('go'),
  )

describe('a webhook', () => {
  test('gets a body that its signature covers, with time and delivery id in it', async () => {
    expect(await deliver()).toEqual({ kind: 'delivered' })
    const [{ request, body } = { request: undefined, body: '' }] = got
    const wanted = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    expect(request?.headers['x-hub-signature-256']).toBe(wanted)
    expect(request?.headers['x-catalog-bot-delivery']).toBe('d1')
    expect(JSON.parse(body)).toEqual({ commit: 'c', delivery: 'd1', timestamp: '2026-11-22T00:00:00.000Z' })
    expect(body).not.toContain(secret)
  })

  test.each([
    [503, true],
    [429, true],
    [404, false],
    [401, false],
  ])('that answers %i is tried again: %s', async (status, retryable) => {
    answer = { status, body: 'no' }
    expect(await deliver()).toEqual({ kind: 'failed', why: `it answered ${status}`, retryable })
  })

  test('that redirects gets nothing anywhere else', async () => {
    answer = { status: 307, body: '', headers: { location: `http://${host}/elsewhere` } }
    expect(await deliver()).toMatchObject({ kind: 'failed' })
    expect(got).toHaveLength(1)
  })

  test('is not called where the operator did not allow it, nor inside the network', async () => {
    expect(await deliver({ url: `http://${host}/other` })).toMatchObject({ kind: 'refused' })
    expect(await deliver({ github: { owner: 'mallory', name: 'operators' } })).toMatchObject({
      kind: 'refused',
    })
    expect(await deliver({ url: 'http://10.1.2.3/hook' })).toMatchObject({ kind: 'failed', retryable: false })
    expect(got).toEqual([])
  })

  test('is followed at the address that it names, on its own host alone', async () => {
    answer = { status: 201, body: JSON.stringify({ status_url: '/builds/1' }) }
    expect(await deliver()).toEqual({ kind: 'delivered', status: `http://${host}/builds/1` })
    answer = { status: 201, body: JSON.stringify({ status_url: 'http://169.254.169.254/latest' }) }
    expect(await deliver()).toEqual({ kind: 'delivered' })
    const follow = (status: string) =>
      doPublishOrder({ kind: 'follow', ...asking, url: url(), status }, room, () => Promise.resolve('go'))
    answer = { status: 200, body: JSON.stringify({ status: 'queued' }) }
    expect(await follow(`http://${host}/builds/1`)).toEqual({ kind: 'followed', state: 'running' })
    answer = { status: 200, body: JSON.stringify({ status: 'failed', url: 'https://ci.example/1' }) }
    expect(await follow(`http://${host}/builds/1`)).toEqual({
      kind: 'followed',
      state: 'failed',
      url: 'https://ci.example/1',
    })
    answer = { status: 200, body: '<html>' }
    expect(await follow(`http://${host}/builds/1`)).toMatchObject({ kind: 'failed', retryable: true })
    expect(await follow('http://169.254.169.254/latest')).toMatchObject({ kind: 'refused' })
  })
})
