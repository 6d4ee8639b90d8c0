import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import {
  createWebhookDeliveryHandler,
  webhookDeliveryPath,
  hasValidSignature,
  parsePassingCommitStatus,
  mapWebhookDeliveryToJobs,
} from '../../src/server/deliveries.ts'
import type { RecordedHeadPush } from '../../src/ports/pull-history.ts'
import type { WebhookDelivery, Job } from '../../src/ports/store.ts'

const webhookSecret = 'the current secret of the tests'
const previousWebhookSecret = 'the secret before the rotation'
const signWebhookBody = (body: Uint8Array | string, key = webhookSecret) =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`

const webhookPayloadBase = {
  repository: { name: 'operators', owner: { login: 'coast' } },
  installation: { id: 5 },
}
const pullOpenedPayload = JSON.stringify({
  ...webhookPayloadBase,
  action: 'opened',
  pull_request: { number: 7 },
})

/** The status that the handler responds with to `pullOpenedPayload`, sent in these pieces. */
async function statusOf(
  handler: ReturnType<typeof createWebhookDeliveryHandler>,
  body: AsyncIterable<Buffer>,
): Promise<number> {
  const headers = {
    'x-github-event': 'pull_request',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signWebhookBody(pullOpenedPayload),
  }
  const request = Object.assign(body, { method: 'POST', url: webhookDeliveryPath, headers })
  let status = 0
  const response = { writeHead: (given: number) => ((status = given), { end: () => undefined }) }
  await handler(request as never, response as never)
  return status
}

/** The jobs of a delivery of that repository. */
const mapDelivery = (event: string, payload: object, appId?: number) =>
  mapWebhookDeliveryToJobs(event, { ...webhookPayloadBase, ...payload }, appId)

describe('the webhook endpoint', () => {
  let server: Server
  let url: string
  const labels: string[] = []
  const accepted: { delivery: WebhookDelivery; jobs: readonly Job[]; push?: RecordedHeadPush | undefined }[] =
    []

  beforeAll(async () => {
    const handler = createWebhookDeliveryHandler({
      store: {
        accept: (delivery, jobs, push) => {
          const known = accepted.some((other) => other.delivery.guid === delivery.guid)
          accepted.push({ delivery, jobs, push })
          return Promise.resolve(known ? 'duplicate' : 'new')
        },
      },
      secrets: [webhookSecret, previousWebhookSecret],
      findWaitingPulls: ({ context }) => Promise.resolve(context === 'ci' ? [toPullNumber(8)] : []),
      onAccepted: (_outcome, event) => void labels.push(event),
    })
    server = createServer((request, response) => {
      handler(request, response).then(
        (handled) => void (handled || response.writeHead(404).end()),
        () => response.destroy(),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${webhookDeliveryPath}`
  })
  afterAll(() => void server.close())
  beforeEach(() => {
    accepted.length = 0
    labels.length = 0
  })

  const send = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const all = {
      'x-github-event': 'pull_request',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': signWebhookBody(body),
      ...headers,
    }
    return (await fetch(url, { method: 'POST', body, headers: all })).status
  }

  test('stores a signed delivery with its job and answers 202', async () => {
    expect(await send(pullOpenedPayload)).toBe(202)
    expect(accepted[0]?.jobs).toEqual([
      { kind: 'pull', installation: 5, repository: { owner: 'coast', name: 'operators' }, pull: 7 },
    ])
    expect(Buffer.from(accepted[0]?.delivery.body ?? []).toString()).toBe(pullOpenedPayload)
  })

  test('requeues pull requests that wait for a passing status, and none for any other status', async () => {
    const status = { ...webhookPayloadBase, sha: '1'.repeat(40), state: 'success' }
    for (const context of ['ci', 'lint'])
      await send(JSON.stringify({ ...status, context }), { 'x-github-event': 'status' })
    await send(JSON.stringify({ ...status, context: 'ci', state: 'pending' }), { 'x-github-event': 'status' })
    expect(accepted.map(({ jobs }) => jobs)).toMatchObject([[{ kind: 'pull', pull: 8 }], [], []])
  })

  test('does not store a report of a check run that causes no job', async () => {
    const report = JSON.stringify({
      ...webhookPayloadBase,
      action: 'created',
      check_run: { pull_requests: [] },
    })
    expect(await send(report, { 'x-github-event': 'check_run' })).toBe(202)
    expect(accepted).toEqual([])
  })

  test('labels unverified deliveries and unknown events with fixed names', async () => {
    for (let count = 0; count < 20; count += 1)
      expect(
        await send(pullOpenedPayload, {
          'x-github-event': `event_${'x'.repeat(count)}`,
          'x-hub-signature-256': signWebhookBody('x'),
        }),
      ).toBe(401)
    expect(await send(pullOpenedPayload, { 'x-github-event': 'NOT A NAME' })).toBe(400)
    expect(await send(pullOpenedPayload, { 'x-github-event': 'star' })).toBe(202)
    expect(await send(pullOpenedPayload)).toBe(202)
    expect([...new Set(labels)]).toEqual(['unverified', 'other', 'pull_request'])
  })

  test('stores who pushed a head with the delivery that reports it (T24)', async () => {
    const head = 'c'.repeat(40)
    const pull = { number: 7, head: { sha: head } }
    const sender = { id: 9, login: 'olga', type: 'User' }
    await send(
      JSON.stringify({
        ...webhookPayloadBase,
        action: 'synchronize',
        after: head,
        pull_request: pull,
        sender,
      }),
    )
    await send(JSON.stringify({ ...webhookPayloadBase, action: 'labeled', pull_request: pull, sender }))
    expect(accepted.map(({ push }) => push)).toEqual([
      {
        repository: { owner: 'coast', name: 'operators' },
        pull: 7,
        head,
        pusher: { id: 9, login: 'olga', kind: 'user' },
      },
      undefined,
    ])
  })

  test('answers a redelivery with 202 too', async () => {
    const guid = { 'x-github-delivery': randomUUID() }
    expect([await send(pullOpenedPayload, guid), await send(pullOpenedPayload, guid)]).toEqual([202, 202])
  })

  test('accepts the previous secret after a rotation', async () => {
    expect(
      await send(pullOpenedPayload, {
        'x-hub-signature-256': signWebhookBody(pullOpenedPayload, previousWebhookSecret),
      }),
    ).toBe(202)
  })

  test.each([
    ['no signature', { 'x-hub-signature-256': '' }],
    [
      'a signature made with another secret',
      { 'x-hub-signature-256': signWebhookBody(pullOpenedPayload, 'development') },
    ],
    ['a signature for another body', { 'x-hub-signature-256': signWebhookBody(`${pullOpenedPayload} `) }],
    [
      'only a SHA-1 signature',
      {
        'x-hub-signature-256': '',
        'x-hub-signature': `sha1=${createHmac('sha1', webhookSecret).update(pullOpenedPayload).digest('hex')}`,
      },
    ],
    ['an uppercase signature', { 'x-hub-signature-256': signWebhookBody(pullOpenedPayload).toUpperCase() }],
  ])(
    'rejects a delivery with %s and stores nothing (T42)',
    async (_name, headers: Record<string, string>) => {
      expect(await send(pullOpenedPayload, headers)).toBe(401)
      expect(accepted).toEqual([])
    },
  )

  test('verifies the bytes as received, not the JSON parsed from them', async () => {
    const spaced = pullOpenedPayload.replaceAll(':', ' : ')
    expect(
      await send(spaced, { 'x-hub-signature-256': signWebhookBody(JSON.stringify(JSON.parse(spaced))) }),
    ).toBe(401)
    expect(await send(spaced)).toBe(202)
    const invalid = Uint8Array.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')])
    expect(
      await send(invalid, { 'x-hub-signature-256': signWebhookBody(Buffer.from(invalid).toString('utf8')) }),
    ).toBe(401)
  })

  test.each([
    ['without an event', { 'x-github-event': '' }, pullOpenedPayload],
    ['without a GUID', { 'x-github-delivery': '' }, pullOpenedPayload],
    ['with an invalid GUID', { 'x-github-delivery': "1'; drop table" }, pullOpenedPayload],
    ['that is not JSON', {}, 'hello'],
  ])('rejects a delivery %s', async (_name, headers: Record<string, string>, body) => {
    expect(await send(body, headers)).toBe(400)
    expect(accepted).toEqual([])
  })

  test('does not store what does not fit in the store: a number of 32 bits, or a name of 3,000 characters', async () => {
    const body = { ...webhookPayloadBase, action: 'opened', ref: `refs/heads/${'b'.repeat(3000)}` }
    const head = { sha: 'c'.repeat(40) }
    const sender = { id: 9, login: 'olga', type: 'User' }
    for (const number of [2 ** 31, Number.MAX_SAFE_INTEGER])
      expect(await send(JSON.stringify({ ...body, pull_request: { number, head }, sender }))).toBe(202)
    expect(await send(JSON.stringify(body), { 'x-github-event': 'push' })).toBe(202)
    expect(accepted.map(({ jobs, push }) => ({ jobs, push }))).toEqual(
      Array.from({ length: 3 }, () => ({ jobs: [], push: undefined })),
    )
  })

  test('accepts a delivery while unverified senders hold every slot for large bodies', async () => {
    const [filled, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let full = 0
    const piece = Buffer.alloc(1024 * 1024)
    async function* endless() {
      for (let count = 0; count < 25; count += 1) yield piece
      full += 1
      if (full === 8) filled.resolve()
      await over.promise
    }
    const handler = createWebhookDeliveryHandler({
      store: { accept: () => Promise.resolve('new') },
      secrets: [webhookSecret],
      onAccepted: () => undefined,
    })
    // Each body has the maximum length and never ends.
    const held = Array.from({ length: 8 }, () => statusOf(handler, endless()))
    await filled.promise
    async function* usual() {
      yield Buffer.from(pullOpenedPayload)
    }
    expect(await statusOf(handler, usual())).toBe(202)
    // A connection that ends early is not an error of catalog-bot.
    async function* aborted() {
      yield Buffer.from(pullOpenedPayload)
      throw new Error('aborted')
    }
    expect(await statusOf(handler, aborted())).toBe(400)
    over.resolve()
    await Promise.all(held)
  })

  test('copies the pieces of a body, because each piece keeps all bytes in memory that arrived with it', async () => {
    const handler = createWebhookDeliveryHandler({
      store: { accept: () => Promise.resolve('new') },
      secrets: [webhookSecret],
      onAccepted: () => undefined,
    })
    async function* sharedPiece() {
      const piece = Buffer.alloc(1)
      for (const byte of Buffer.from(pullOpenedPayload)) {
        piece[0] = byte
        yield piece
      }
    }
    expect(await statusOf(handler, sharedPiece())).toBe(202)
  })

  test('rejects a body that is larger than GitHub ever sends', async () => {
    const huge = new Uint8Array(25 * 1024 * 1024 + 1)
    expect(await send(huge).catch(() => 413)).toBe(413)
    expect(accepted).toEqual([])
  })
})

describe('a signature', () => {
  test('does not match a body with a flipped bit', () => {
    const body = Buffer.from(pullOpenedPayload)
    const good = signWebhookBody(body)
    expect(hasValidSignature(body, good, [webhookSecret])).toBe(true)
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(body)
      flipped[10] = (flipped[10] ?? 0) ^ (1 << bit)
      expect(hasValidSignature(flipped, good, [webhookSecret])).toBe(false)
    }
  })
  test('never matches an empty secret', () => {
    expect(hasValidSignature(Buffer.from('x'), signWebhookBody('x', ''), [''])).toBe(false)
  })
})

describe('the jobs of a delivery', () => {
  const pull = (number: number) => ({
    kind: 'pull',
    installation: 5,
    repository: { owner: 'coast', name: 'operators' },
    pull: number,
  })
  const sweep = { kind: 'sweep', installation: 5, repository: { owner: 'coast', name: 'operators' } }

  test.each([
    'opened',
    'synchronize',
    'reopened',
    'edited',
    'ready_for_review',
    'converted_to_draft',
    'closed',
    'labeled',
    'unlabeled',
  ])('the action %s enqueues the pull request', (action) =>
    expect(mapDelivery('pull_request', { action, pull_request: { number: 3 } })).toEqual([pull(3)]),
  )
  test('reviews and comments on a pull request enqueue it; a comment on an issue does not', () => {
    expect(mapDelivery('pull_request_review', { action: 'submitted', pull_request: { number: 4 } })).toEqual([
      pull(4),
    ])
    expect(
      mapDelivery('issue_comment', { action: 'created', issue: { number: 4, pull_request: {} } }),
    ).toEqual([pull(4)])
    expect(mapDelivery('issue_comment', { action: 'created', issue: { number: 4 } })).toEqual([])
  })
  test('ignores only comments that our App itself creates or edits', () => {
    const bot = { id: 41, type: 'Bot' }
    const person = { id: 7, type: 'User' }
    const countCommentJobs = (action: string, sender: object, user: object, app: number | null = 3) => {
      const comment = { user, performed_via_github_app: app === null ? null : { id: app } }
      const issue = { number: 7, pull_request: {} }
      return mapDelivery('issue_comment', { action, issue, comment, sender }, 3).length
    }
    expect([countCommentJobs('created', bot, bot), countCommentJobs('edited', bot, bot)]).toEqual([0, 0])
    expect(countCommentJobs('deleted', bot, bot)).toBe(1)
    expect([countCommentJobs('edited', person, bot), countCommentJobs('deleted', person, bot)]).toEqual([
      1, 1,
    ])
    // By another App, without an App, and by a person through our App.
    expect([countCommentJobs('created', bot, bot, 4), countCommentJobs('created', bot, bot, null)]).toEqual([
      1, 1,
    ])
    expect(countCommentJobs('created', person, person)).toBe(1)
    expect(countCommentJobs('edited', { id: 42, type: 'Bot' }, bot)).toBe(1)
  })

  test('a re-run request enqueues its pull request, or a sweep if GitHub names none, as for forks', () => {
    expect(mapDelivery('check_run', { action: 'rerequested', check_run: { pull_requests: [] } })).toEqual([
      sweep,
    ])
    expect(
      mapDelivery('check_suite', { action: 'rerequested', check_suite: { pull_requests: [{ number: 9 }] } }),
    ).toEqual([pull(9)])
  })
  test('a review thread event enqueues its pull request', () =>
    expect(
      mapDelivery('pull_request_review_thread', { action: 'resolved', pull_request: { number: 4 } }),
    ).toEqual([pull(4)]))
  test('only a passing check or status of another App counts for its commit, even on a fork', () => {
    const sha = '1'.repeat(40)
    const ended = (name: string, conclusion: string | null) =>
      parsePassingCommitStatus('check_run', {
        ...webhookPayloadBase,
        action: 'completed',
        check_run: { name, conclusion, head_sha: sha, pull_requests: [] },
      })
    const status = (state: string) =>
      parsePassingCommitStatus('status', { ...webhookPayloadBase, sha, context: 'ci', state })
    expect(ended('build', 'success')).toMatchObject({ commit: sha, context: 'build' })
    expect(ended('build', 'skipped')).toMatchObject({ context: 'build' })
    expect(status('success')).toMatchObject({ commit: sha, context: 'ci' })
    expect([ended('build', 'failure'), ended('build', null), status('pending'), status('failure')]).toEqual(
      Array.from({ length: 4 }),
    )
    expect(ended('catalog-bot / images', 'success')).toBeUndefined()
    expect([
      parsePassingCommitStatus('status', {}),
      parsePassingCommitStatus('push', { ...webhookPayloadBase, sha }),
    ]).toEqual([undefined, undefined])
    expect(
      mapDelivery('check_run', {
        action: 'completed',
        check_run: { name: 'build', pull_requests: [{ number: 9 }] },
      }),
    ).toEqual([])
  })
  test('a push enqueues its branch and a sweep, except for tags and temporary branches', () => {
    expect(mapDelivery('push', { ref: 'refs/heads/release/4.20' })).toEqual([
      {
        kind: 'branch',
        installation: 5,
        repository: { owner: 'coast', name: 'operators' },
        branch: 'release/4.20',
      },
      sweep,
    ])
    expect(mapDelivery('push', { ref: 'refs/tags/v1' })).toEqual([])
    // Branches on which merges wait for their checks.
    for (const passing of [
      'catalog-bot/tmp-7-main',
      'catalog-bot/add/foo/1.1.0',
      'gh-readonly-queue/main/pr-7-0123',
    ])
      expect(mapDelivery('push', { ref: `refs/heads/${passing}` })).toEqual([])
  })
  test('an installation event enqueues a sweep of its repositories', () => {
    const payload = {
      action: 'created',
      installation: { id: 5 },
      repositories: [{ full_name: 'coast/operators' }],
    }
    expect(mapWebhookDeliveryToJobs('installation', payload)).toEqual([sweep])
    expect(
      mapWebhookDeliveryToJobs('installation_repositories', {
        installation: { id: 5 },
        repositories_added: [{ full_name: 'coast/operators' }],
      }),
    ).toEqual([sweep])
  })
  test('a delivery for 20,000 repositories or pull requests enqueues five hundred jobs; the sweep finds the others', () => {
    const repositories = Array.from({ length: 20_000 }, (_, at) => ({ full_name: `coast/r${at}` }))
    const jobs = mapWebhookDeliveryToJobs('installation', {
      action: 'created',
      installation: { id: 5 },
      repositories,
    })
    expect(jobs).toHaveLength(500)
    expect(jobs[499]).toEqual({ ...sweep, repository: { owner: 'coast', name: 'r499' } })
    const pull_requests = repositories.map((_, at) => ({ number: at + 1 }))
    expect(
      mapDelivery('check_suite', { action: 'rerequested', check_suite: { pull_requests } }),
    ).toHaveLength(500)
  })
  test.each([
    undefined,
    null,
    7,
    'x',
    [],
    {},
    { repository: 'coast' },
    { ...webhookPayloadBase, pull_request: { number: '7; drop' }, action: 'opened' },
  ])('a malformed payload (%j) enqueues no job and throws no error', (payload) => {
    for (const event of [
      'pull_request',
      'issue_comment',
      'push',
      'installation',
      'check_run',
      'star',
      'constructor',
    ])
      expect(mapWebhookDeliveryToJobs(event, payload)).toEqual([])
  })
})

test.each(['a\0b', 'a\ud800', 'a\nb'])('a name that the store cannot hold enqueues no job: %j', (bad) => {
  const of = (name: string, login: string) => ({ repository: { name, owner: { login } } })
  for (const repository of [of(bad, 'coast'), of('operators', bad)])
    expect(
      mapDelivery('pull_request', { ...repository, action: 'opened', pull_request: { number: 7 } }),
    ).toEqual([])
  expect(mapDelivery('push', { ref: `refs/heads/${bad}` })).toEqual([])
  expect(mapDelivery('workflow_run', { workflow_run: { head_branch: bad } })).toEqual([])
  expect(mapDelivery('merge_group', { merge_group: { base_ref: `refs/heads/${bad}` } })).toEqual([])
  const repositories = [{ full_name: `coast/${bad}` }]
  const { installation } = webhookPayloadBase
  expect(mapWebhookDeliveryToJobs('installation', { action: 'created', installation, repositories })).toEqual(
    [],
  )
})
