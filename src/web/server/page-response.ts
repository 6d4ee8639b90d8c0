// Sends pages with a strict content policy and ETags.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StatusPageFormat } from '../../report/urls.ts'

export interface PageResponse {
  readonly status: number
  readonly body: string
  readonly form: StatusPageFormat
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

const contentTypeByPageFormat: Readonly<Record<StatusPageFormat, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** No scripts, frames or external resources; forms post only here. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** `cache`: the Cache-Control value. */
export function sendPageResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, form, headers = {} }: PageResponse,
  cache: string,
): void {
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  const all = {
    'content-type': contentTypeByPageFormat[form],
    'cache-control': cache,
    vary: 'Accept, Cookie',
    'content-security-policy': contentSecurityPolicy,
    // With `no-referrer`, browsers omit the origin of our own forms.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': form === 'svg' ? 'cross-origin' : 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    ...(status === 200 && cache !== 'no-store' && { etag: tag }),
    ...(headers as Record<string, string | string[]>),
  }
  const isKnown = status === 200 && cache !== 'no-store' && matchesEtag(request.headers['if-none-match'], tag)
  if (isKnown) return void response.writeHead(304, all).end()
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...all, 'content-length': bytes.length })
  if (request.method === 'HEAD') response.end()
  else response.end(bytes)
}

function matchesEtag(header: string | undefined, tag: string): boolean {
  return header?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true
}

/** JSON only if the client lists it before HTML. */
export function negotiatePageFormat(accept: string | undefined): 'html' | 'json' {
  for (const one of (accept ?? '').split(',')) {
    const type = one.split(';')[0]?.trim().toLowerCase()
    if (type === 'application/json') return 'json'
    if (type === 'text/html' || type === 'application/xhtml+xml' || type === '*/*') return 'html'
  }
  return 'html'
}
