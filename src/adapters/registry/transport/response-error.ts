// Interprets failures mainly by status, since error codes are optional and often wrong. Text from a registry is
// untrusted, so it is shortened to one line and never treated as Markdown.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { RegistryError } from '../registry-error.ts'
import type { TransportResponse } from './transport.ts'

/** `registryName` starts the message: `quay.io`. */
export function toRegistryResponseError(
  reply: TransportResponse,
  now: number,
  registryName: string,
): RegistryError {
  const { status } = reply
  const { codes, text } = parseRegistryErrorBody(reply)
  const detail = text === '' ? '' : `: ${text}`
  if (status === 429 || codes.includes('TOOMANYREQUESTS'))
    return new RegistryError(
      'rate-limited',
      `${registryName} is rate limiting requests (${status})${detail}`,
      { status, retryAfter: parseRetryAfter(reply, now) },
    )
  if (status === 404)
    return new RegistryError(
      'missing',
      // Blobs, tokens, and uploads can be missing too.
      reply.url.pathname.includes('/manifests/')
        ? `${registryName} doesn't have this image (404${formatRegistryErrorCodes(codes)})`
        : `${registryName} returned 404${formatRegistryErrorCodes(codes)}`,
      { status },
    )
  if (status === 401 || status === 403)
    return new RegistryError(
      'private',
      `${registryName} denied access (${status}${formatRegistryErrorCodes(codes)})${detail}`,
      { status },
    )
  if (status >= 500 || status === 408 || status === 499)
    return new RegistryError('server', `${registryName} returned ${status}${detail}`, {
      status,
      retryAfter: parseRetryAfter(reply, now),
    })
  return new RegistryError(
    'bad-reply',
    `${registryName} returned ${status}${formatRegistryErrorCodes(codes)}${detail}`,
    { status },
  )
}

/** Seconds from now, from a number or an HTTP date; undefined if absent or invalid. */
function parseRetryAfter(reply: TransportResponse, now: number): number | undefined {
  const value = reply.headers.get('retry-after')?.[0]?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000))
}

/** `errors[].code`, and one line of the first message. */
export function parseRegistryErrorBody(reply: TransportResponse): { codes: readonly string[]; text: string } {
  const data = tryParseJson(Buffer.from(reply.body).toString('utf8'))
  // Docker Hub and Red Hat sometimes return a bare `details` text instead of `errors`.
  const top = (typeof data === 'object' && data !== null ? data : {}) as {
    errors?: unknown
    details?: unknown
  }
  const errors = (Array.isArray(top.errors) ? (top.errors as unknown[]) : []).filter(
    (error): error is Record<string, unknown> => typeof error === 'object' && error !== null,
  )
  const codes = errors.map(({ code }) => code).filter((code) => typeof code === 'string')
  const message = [...errors.map((error) => error['message']), top.details].find(
    (text): text is string => typeof text === 'string' && text !== '',
  )
  return { codes: codes.slice(0, 5).map(toSingleLineText), text: toSingleLineText(message ?? '') }
}

function formatRegistryErrorCodes(codes: readonly string[]): string {
  return codes.length === 0 ? '' : ` ${codes.join(', ')}`
}

function toSingleLineText(text: string): string {
  const plain = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}
