// Verifies a delivery by its raw bytes, stores the delivery and its jobs in one transaction, and responds. Makes no
// decisions, and leaves nothing running after the response.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebhookDeliveryStore } from '../../ports/store.ts'
import type { PullNumber } from '../../pull-request/ids.ts'
import {
  parsePassingCommitStatus,
  mapWebhookDeliveryToJobs,
  getEventMetricLabel,
  createPullJob,
  parsePushFromDelivery,
} from './webhook-jobs.ts'
import type { PassingCommitStatus } from '../../merge/rejected-pulls.ts'

/** GitHub caps payloads at 25 MB. */
const maxWebhookBodyBytes = 25 * 1024 * 1024
/** Nearly every delivery is shorter. Small ones have a separate memory limit, so that large ones cannot starve them. */
const maxSmallWebhookBodyBytes = 1024 * 1024
/** Total bytes held before signatures are verified: eight of the largest bodies and 64 usual ones. */
const maxUnverifiedBodyBytesBySizeClass = {
  long: 8 * maxWebhookBodyBytes,
  usual: 64 * maxSmallWebhookBodyBytes,
} as const

export const webhookDeliveryPath = '/api/github/webhooks'

export interface WebhookDeliveryHandlerOptions {
  readonly store: WebhookDeliveryStore
  /** The current secret first, then the previous one. */
  readonly secrets: readonly string[]
  /** Our own App's changes are ignored. If absent, no sender is. */
  readonly appId?: number | undefined
  /** Finds the pull requests that wait for another app's report. */
  readonly waitingFor?: (report: PassingCommitStatus) => Promise<readonly PullNumber[]>
  /** `event` comes from a closed list, never from an unsigned header (getEventMetricLabel). */
  readonly onAccepted: (outcome: 'new' | 'duplicate' | 'refused', event: string, milliseconds: number) => void
}

/** A handler in Probot's form: true when it has answered, false when the request is not a delivery. */
export function createWebhookDeliveryHandler(options: WebhookDeliveryHandlerOptions) {
  const { store, secrets, appId, waitingFor, onAccepted } = options
  const rooms: RequestBodyMemoryBudgets = { ...maxUnverifiedBodyBytesBySizeClass }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    if (request.method !== 'POST' || request.url?.split('?')[0] !== webhookDeliveryPath) return false
    const started = performance.now()
    const event = toSingleHeaderValue(request.headers['x-github-event'])
    const guid = toSingleHeaderValue(request.headers['x-github-delivery'])
    const signature = toSingleHeaderValue(request.headers['x-hub-signature-256'])
    let label = 'unverified'
    const respond = (status: number, text: string, outcome: 'new' | 'duplicate' | 'refused') => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
      onAccepted(outcome, label, performance.now() - started)
      return true
    }
    const body = await readWebhookBody(request, rooms)
    if (body === 'too-large') return respond(413, 'the delivery is too large', 'refused')
    if (body === 'crowded')
      return respond(503, 'too many concurrent deliveries; send this delivery again later', 'refused')
    if (
      !/^[a-z_]{1,64}$/.test(event ?? '') ||
      !/^[\w-]{8,64}$/.test(guid ?? '') ||
      event === undefined ||
      guid === undefined
    )
      return respond(400, 'this request is not a GitHub delivery', 'refused')
    if (!hasValidSignature(body, signature, secrets))
      return respond(401, 'the signature does not match', 'refused')
    label = getEventMetricLabel(event)
    const payload = parseJson(body)
    if (payload === undefined) return respond(400, 'the body is not JSON', 'refused')
    const report = parsePassingCommitStatus(event, payload)
    const waiting = report === undefined ? [] : ((await waitingFor?.(report)) ?? [])
    const jobs = [
      ...mapWebhookDeliveryToJobs(event, payload, appId),
      ...waiting.flatMap((number) => (report === undefined ? [] : createPullJob(report, { number }))),
    ]
    const push = parsePushFromDelivery(event, payload)
    // Most deliveries only report check runs, usually catalog-bot's own ones.
    const isOnlyCheckReport = /^check_(?:run|suite)$/.test(event) && jobs.length === 0
    const outcome = isOnlyCheckReport ? 'new' : await store.accept({ guid, event, body }, jobs, push)
    return respond(202, outcome === 'new' ? 'accepted' : 'known', outcome)
  }
}

/** Compares an HMAC-SHA-256 of the raw bytes in constant time and ignores the SHA-1 header. */
export function hasValidSignature(
  body: Uint8Array,
  signature: string | undefined,
  secrets: readonly string[],
): boolean {
  if (signature === undefined || !/^sha256=[0-9a-f]{64}$/.test(signature)) return false
  const signatureBytes = Buffer.from(signature.slice('sha256='.length), 'hex')
  return secrets.some(
    (secret) =>
      secret !== '' && timingSafeEqual(signatureBytes, createHmac('sha256', secret).update(body).digest()),
  )
}

type RequestBodyMemoryBudgets = Record<keyof typeof maxUnverifiedBodyBytesBySizeClass, number>

/** Limits the body to GitHub's maximum, and all bodies together to the shared memory limit. */
async function readWebhookBody(
  request: IncomingMessage,
  rooms: RequestBodyMemoryBudgets,
): Promise<Buffer | 'too-large' | 'crowded'> {
  const chunks: Buffer[] = []
  let length = 0
  let budgetName: keyof RequestBodyMemoryBudgets = 'usual'
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      rooms[budgetName] -= chunk.length
      if (length > maxWebhookBodyBytes) return 'too-large'
      if (budgetName === 'usual' && length > maxSmallWebhookBodyBytes) {
        rooms.usual += length
        rooms.long -= length
        budgetName = 'long'
      }
      if (rooms[budgetName] < 0) return 'crowded'
      chunks.push(chunk)
    }
  } finally {
    rooms[budgetName] += length
  }
  return Buffer.concat(chunks)
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function toSingleHeaderValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
