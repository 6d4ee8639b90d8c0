// Sends an external builder a request signed like GitHub's webhooks, once, and polls the build.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { RegistryError } from '../../adapters/registry/registry-error.ts'
import type { RegistryTransport } from '../../adapters/registry/transport/transport.ts'
import type { PublishResponse } from './publish-protocol.ts'

const maxWebhookResponseBytes = 65_536

export interface OutgoingWebhookRequest {
  readonly url: string
  readonly secret: string
  readonly delivery: string
  readonly payload: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch; signed to prevent replay. */
  readonly now: number
}

/** The signature covers exactly these bytes. */
function signWebhookRequest({ secret, delivery, payload, now }: Omit<OutgoingWebhookRequest, 'url'>): {
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
export async function sendWebhook(
  call: OutgoingWebhookRequest,
  transport: RegistryTransport,
): Promise<PublishResponse> {
  const { body, headers } = signWebhookRequest(call)
  return convertRegistryErrorToFailure(async () => {
    const reply = await transport.exchange({
      method: 'POST',
      url: new URL(call.url),
      headers,
      body,
      bodyLimit: maxWebhookResponseBytes,
      redirects: 0,
    })
    if (reply.status < 200 || reply.status > 299) return toWebhookFailure(reply.status)
    const statusUrl = webhookBuildResponseSchema.safeParse(
      tryParseJson(Buffer.from(reply.body).toString('utf8')),
    ).data?.status_url
    const status = statusUrl === undefined ? undefined : toBuildStatusUrl(statusUrl, call.url)
    return { kind: 'delivered', ...(status !== undefined && { status }) }
  })
}

/** Polls the status address that the receiver returned. */
export async function fetchBuildStatus(
  { url, status }: { readonly url: string; readonly status: string },
  transport: RegistryTransport,
): Promise<PublishResponse> {
  const address = toBuildStatusUrl(status, url)
  if (address === undefined)
    return { kind: 'refused', why: 'the status URL is on a different host than the webhook' }
  return convertRegistryErrorToFailure(async () => {
    const reply = await transport.exchange({
      method: 'GET',
      url: new URL(address),
      headers: { accept: 'application/json', 'user-agent': 'catalog-bot' },
      bodyLimit: maxWebhookResponseBytes,
      redirects: 0,
    })
    if (reply.status !== 200) return toWebhookFailure(reply.status)
    const build = buildStatusSchema.safeParse(tryParseJson(Buffer.from(reply.body).toString('utf8'))).data
    if (build === undefined)
      return {
        kind: 'failed',
        why: 'the status response must be JSON with a "status" field that is queued, running, succeeded, or failed',
        retryable: true,
      }
    return {
      kind: 'followed',
      state: build.status === 'queued' ? 'running' : build.status,
      ...(build.url !== undefined && { url: build.url }),
    }
  })
}

const webhookBuildResponseSchema = z.object({ status_url: z.string().max(2000) })
const buildStatusSchema = z.object({
  status: z.enum(['queued', 'running', 'succeeded', 'failed']),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional()
    .catch(undefined),
})

/** The status address must be on the webhook's server, the only one the administrator allowed. */
function toBuildStatusUrl(status: string, url: string): string | undefined {
  if (!URL.canParse(status, url)) return undefined
  const found = new URL(status, url)
  return found.origin === new URL(url).origin && found.username === '' ? found.href : undefined
}

function toWebhookFailure(status: number): PublishResponse {
  // Temporary statuses are retried.
  const retryable = status >= 500 || [408, 425, 429].includes(status)
  return { kind: 'failed', why: `the webhook returned HTTP ${status}`, retryable }
}

async function convertRegistryErrorToFailure(send: () => Promise<PublishResponse>): Promise<PublishResponse> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { kind: 'failed', why: error.message, retryable: error.retryable }
  }
}
