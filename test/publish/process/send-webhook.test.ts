// The signed request to a test server, which can verify it like a webhook of GitHub.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handlePublishRequest } from '../../../src/publish/process/publish-handler.ts'
import type { PublishContext } from '../../../src/publish/process/publish-context.ts'
import type { PublishRequest } from '../../../src/publish/process/publish-protocol.ts'
import { parsePushTargets } from '../../../src/publish/process/push-targets.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { RegistryTransport } from '../../../src/adapters/registry/transport/transport.ts'

const webhookSecret = 'a secret of the operator'
let receivedWebhookRequests: { request: IncomingMessage; body: string }[]
let webhookServerResponse: { status: number; body: string; headers?: Record<string, string> }

const webhookServer = createServer((request, response) => {
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString()))
  request.on('end', () => {
    receivedWebhookRequests.push({ request, body })
    response
      .writeHead(webhookServerResponse.status, webhookServerResponse.headers)
      .end(webhookServerResponse.body)
  })
})
await new Promise<void>((resolve) => webhookServer.listen(0, '127.0.0.1', resolve))
const webhookServerHost = `127.0.0.1:${(webhookServer.address() as AddressInfo).port}`
const webhookTransport = new RegistryTransport({ egress: allowLoopbackRegistries(webhookServerHost) })
const publisherContext: PublishContext = {
  targets: parsePushTargets(
    `[{github: coast/operators, webhooks: [{url: 'http://${webhookServerHost}/hook', secret: hook.secret}, {url: 'http://10.1.2.3/hook', secret: s}]}]`,
  ),
  registryFor: () => Promise.reject(new Error('no registry is asked')),
  mirrorAt: () => Promise.reject(new Error('no tree is read')),
  secretOf: (file) => Promise.resolve(file === 'hook.secret' ? webhookSecret : ''),
  transport: webhookTransport,
  closedHosts: [],
  version: '1.2.3',
  now: () => Date.UTC(2026, 10, 22),
}
beforeEach(() => {
  receivedWebhookRequests = []
  webhookServerResponse = { status: 202, body: '' }
})
afterAll(async () => {
  await webhookTransport.close()
  webhookServer.closeAllConnections()
  await new Promise((resolve) => webhookServer.close(resolve))
})

const requestingRepository = { github: { owner: 'coast', name: 'operators' }, installation: 7 }
const getWebhookUrl = () => `http://${webhookServerHost}/hook`
const deliverWebhook = (more: Partial<PublishRequest> = {}) =>
  handlePublishRequest(
    {
      kind: 'deliver',
      ...requestingRepository,
      url: getWebhookUrl(),
      delivery: 'd1',
      payload: { commit: 'c', timestamp: 'theirs' },
      ...more,
    } as PublishRequest,
    publisherContext,
    () => Promise.resolve('go'),
  )

describe('a webhook', () => {
  test('has a signed body with the time and the delivery ID', async () => {
    expect(await deliverWebhook()).toEqual({ kind: 'delivered' })
    const [{ request, body } = { request: undefined, body: '' }] = receivedWebhookRequests
    const wanted = `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`
    expect(request?.headers['x-hub-signature-256']).toBe(wanted)
    expect(request?.headers['x-catalog-bot-delivery']).toBe('d1')
    expect(JSON.parse(body)).toEqual({ commit: 'c', delivery: 'd1', timestamp: '2026-11-22T00:00:00.000Z' })
    expect(body).not.toContain(webhookSecret)
  })

  test.each([
    [503, true],
    [429, true],
    [404, false],
    [401, false],
  ])('with the response %i is retried: %s', async (status, retryable) => {
    webhookServerResponse = { status, body: 'no' }
    expect(await deliverWebhook()).toEqual({
      kind: 'failed',
      why: `the webhook returned HTTP ${status}`,
      retryable,
    })
  })

  test('is not sent to the target of a redirect', async () => {
    webhookServerResponse = {
      status: 307,
      body: '',
      headers: { location: `http://${webhookServerHost}/elsewhere` },
    }
    expect(await deliverWebhook()).toMatchObject({ kind: 'failed' })
    expect(receivedWebhookRequests).toHaveLength(1)
  })

  test('is not sent to a URL that the operator did not allow, or to an internal address', async () => {
    expect(await deliverWebhook({ url: `http://${webhookServerHost}/other` })).toMatchObject({
      kind: 'refused',
    })
    expect(await deliverWebhook({ github: { owner: 'mallory', name: 'operators' } })).toMatchObject({
      kind: 'refused',
    })
    expect(await deliverWebhook({ url: 'http://10.1.2.3/hook' })).toMatchObject({
      kind: 'failed',
      retryable: false,
    })
    expect(receivedWebhookRequests).toEqual([])
  })

  test('has its status read at the URL from the response, only on the same host', async () => {
    webhookServerResponse = { status: 201, body: JSON.stringify({ status_url: '/builds/1' }) }
    expect(await deliverWebhook()).toEqual({
      kind: 'delivered',
      status: `http://${webhookServerHost}/builds/1`,
    })
    webhookServerResponse = {
      status: 201,
      body: JSON.stringify({ status_url: 'http://169.254.169.254/latest' }),
    }
    expect(await deliverWebhook()).toEqual({ kind: 'delivered' })
    const followStatus = (status: string) =>
      handlePublishRequest(
        { kind: 'follow', ...requestingRepository, url: getWebhookUrl(), status },
        publisherContext,
        () => Promise.resolve('go'),
      )
    webhookServerResponse = { status: 200, body: JSON.stringify({ status: 'queued' }) }
    expect(await followStatus(`http://${webhookServerHost}/builds/1`)).toEqual({
      kind: 'followed',
      state: 'running',
    })
    webhookServerResponse = {
      status: 200,
      body: JSON.stringify({ status: 'failed', url: 'https://ci.example/1' }),
    }
    expect(await followStatus(`http://${webhookServerHost}/builds/1`)).toEqual({
      kind: 'followed',
      state: 'failed',
      url: 'https://ci.example/1',
    })
    webhookServerResponse = { status: 200, body: '<html>' }
    expect(await followStatus(`http://${webhookServerHost}/builds/1`)).toMatchObject({
      kind: 'failed',
      retryable: true,
    })
    expect(await followStatus('http://169.254.169.254/latest')).toMatchObject({ kind: 'refused' })
  })
})
