// Sends a request to an external builder, signed like GitHub's webhooks, and polls its build. One attempt; the caller
// retries.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { RegistryError } from '../../registry/registry-error.ts'
import type { Transport } from '../../registry/transport/transport.ts'
import type { PublishAnswer } from './publish-order.ts'

const answerLimit = 65_536

export interface WebhookCall {
  readonly url: string
  readonly secret: string
  readonly delivery: string
  readonly payload: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch; signed to prevent replay. */
  readonly now: number
}

/** The signature covers exactly these bytes. */
function signedRequest({ secret, delivery, payload, now }: Omit<WebhookCall, 'url'>): {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
} {
  const body = JSON.stringify({ ...payload, delivery, timestamp: new Date(now).toISOString() })
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'catalog-bot',
      'x-catalog-bot-event': 'catalog-changed',
      'x-catalog-bot-delivery': delivery,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }
}

/** Any 2xx counts as received. Never rejects because of the receiver. */
export async function sendWebhook(call: WebhookCall, transport: Transport): Promise<PublishAnswer> {
  const { body, headers } = signedRequest(call)
  return asking(async () => {
    const reply = await transport.exchange({
      method: 'POST',
      url: new URL(call.url),
      headers,
      body,
      bodyLimit: answerLimit,
      redirects: 0,
    })
    if (reply.status < 200 || reply.status > 299) return refusal(reply.status)
    const said = started.safeParse(json(reply.body)).data?.status_url
    const status = said === undefined ? undefined : besides(said, call.url)
    return { kind: 'delivered', ...(status !== undefined && { status }) }
  })
}

/** Polls the status address that the receiver returned. */
export async function followWebhook(
  { url, status }: { readonly url: string; readonly status: string },
  transport: Transport,
): Promise<PublishAnswer> {
  const address = besides(status, url)
  if (address === undefined) return { kind: 'refused', why: 'its status is on another host' }
  return asking(async () => {
    const reply = await transport.exchange({
      method: 'GET',
      url: new URL(address),
      headers: { accept: 'application/json', 'user-agent': 'catalog-bot' },
      bodyLimit: answerLimit,
      redirects: 0,
    })
    if (reply.status !== 200) return refusal(reply.status)
    const said = progress.safeParse(json(reply.body)).data
    if (said === undefined)
      return {
        kind: 'failed',
        why: 'its status is not JSON with a field "status" of queued, running, succeeded or failed',
        retryable: true,
      }
    return {
      kind: 'followed',
      state: said.status === 'queued' ? 'running' : said.status,
      ...(said.url !== undefined && { url: said.url }),
    }
  })
}

const started = z.object({ status_url: z.string().max(2000) })
const progress = z.object({
  status: z.enum(['queued', 'running', 'succeeded', 'failed']),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional()
    .catch(undefined),
})

/** The status address must be on the webhook's server, the only one the operator allowed. */
function besides(status: string, url: string): string | undefined {
  if (!URL.canParse(status, url)) return undefined
  const found = new URL(status, url)
  return found.origin === new URL(url).origin && found.username === '' ? found.href : undefined
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}

function refusal(status: number): PublishAnswer {
  // Temporary statuses are retried.
  const retryable = status >= 500 || [408, 425, 429].includes(status)
  return { kind: 'failed', why: `it answered ${status}`, retryable }
}

async function asking(ask: () => Promise<PublishAnswer>): Promise<PublishAnswer> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { kind: 'failed', why: error.message, retryable: error.retryable }
  }
}
