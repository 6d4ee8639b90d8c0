// catalogd's HTTP API for one catalog, served from memory: all blobs, or those selected by schema, package, and name.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable, pipeline } from 'node:stream'
import type { ServedBlob } from '@catalog-bot/fbc/api/served-catalog'

interface HttpConditionalHeaders {
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
}

/** `etag` includes the quotes; `modified` is in milliseconds. */
interface HttpRepresentation {
  readonly etag: string
  readonly modified: number
}

const etagPattern = /^\s*(?:,+\s*)?(?<weak>W\/)?(?<opaque>"[\x21\x23-\x7e\x80-\uffff]*")/

const httpDatePatterns = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d [A-Z]{3}$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]

export interface HttpServer {
  readonly port: number
  /** Waits up to `timeoutMs` milliseconds for running responses. */
  close(timeoutMs: number): Promise<void>
}

export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  /** When the catalog was read, in milliseconds, as in catalogd. */
  readonly modified: number
}

const allBlobsPath = '/api/v1/all'
const metasPath = '/api/v1/metas'
const jsonLinesMediaType = 'application/jsonl'
const metasQueryParameters = ['schema', 'package', 'name'] as const

/** Rejects if it cannot listen. */
export async function startHttpServer(
  blobs: readonly ServedBlob[],
  { host, port, modified }: HttpServerOptions,
): Promise<HttpServer> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 16 * 1024 },
    createCatalogRequestHandler(blobs, modified),
  )
  // catalogd's limit for an answer is five minutes.
  server.setTimeout(300_000)
  server.maxConnections = 1000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: (timeoutMs) => closeHttpServer(server, timeoutMs),
  }
}

function closeHttpServer(server: Server, timeoutMs: number): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), timeoutMs)
  return new Promise((resolve) =>
    server.close(() => {
      clearTimeout(late)
      resolve()
    }),
  )
}

function createCatalogRequestHandler(
  blobs: readonly ServedBlob[],
  modified: number,
): (request: IncomingMessage, response: ServerResponse) => void {
  const hash = createHash('sha256')
  for (const { line } of blobs) hash.update(line)
  const etag = `"${hash.digest('hex')}"`
  const lastModified = new Date(modified).toUTCString()

  return (request, response) => {
    // Null for a request target such as `//`.
    const at = URL.parse(request.url ?? '/', 'http://catalog')
    if (at?.pathname !== allBlobsPath && at?.pathname !== metasPath) return sendErrorStatus(response, 404)
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendErrorStatus(response, 405)
    const filter = at.pathname === metasPath ? parseMetasFilter(at.searchParams) : {}
    if (!filter) return sendErrorStatus(response, 400)
    const { headers } = request
    const verdict = evaluateConditionalRequest(
      {
        ifMatch: headers['if-match'],
        ifNoneMatch: headers['if-none-match'],
        ifModifiedSince: headers['if-modified-since'],
        ifUnmodifiedSince: headers['if-unmodified-since'],
      },
      { etag, modified },
    )
    response.setHeader('ETag', etag)
    // A client that caches by tag needs no date (RFC 9110, 15.4.5).
    if (verdict !== 304) response.setHeader('Last-Modified', lastModified)
    if (verdict !== 200) return void response.writeHead(verdict).end()
    const lines = filterBlobJsonLines(blobs, filter)
    const length = lines.reduce((sum, line) => sum + line.length, 0)
    response.writeHead(200, { 'Content-Type': jsonLinesMediaType, 'Content-Length': length })
    if (request.method === 'HEAD') return void response.end()
    // Follows the client's pace and ends when the client disconnects.
    pipeline(Readable.from(lines), response, () => {})
  }
}

type MetasFilter = { readonly [Name in (typeof metasQueryParameters)[number]]?: string }

/** Returns undefined for unknown parameters. Ignores empty ones. */
function parseMetasFilter(query: URLSearchParams): MetasFilter | undefined {
  for (const name of query.keys()) if (!metasQueryParameters.some((known) => known === name)) return undefined
  return Object.fromEntries(
    metasQueryParameters.flatMap((name) => {
      const value = query.get(name) ?? ''
      return value === '' ? [] : [[name, value]]
    }),
  )
}

function filterBlobJsonLines(blobs: readonly ServedBlob[], filter: MetasFilter): Uint8Array[] {
  return blobs
    .filter((blob) =>
      metasQueryParameters.every((name) => filter[name] === undefined || blob[name] === filter[name]),
    )
    .map(({ line }) => line)
}

const errorMessageByHttpStatus: Readonly<Record<number, string>> = {
  400: '400 Bad Request',
  404: '404 page not found',
  405: 'Method Not Allowed',
}

/** The text of Go's net/http, including its line end. */
function sendErrorStatus(response: ServerResponse, code: number): void {
  response.writeHead(code, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(`${errorMessageByHttpStatus[code]}\n`)
}

/** Evaluates conditional requests in the order of RFC 9110 (13.2.2), like Go's net/http, which catalogd uses. */
export function evaluateConditionalRequest(
  conditions: HttpConditionalHeaders,
  { etag, modified }: HttpRepresentation,
): 200 | 304 | 412 {
  // HTTP dates have no fractions of a second.
  const changed = Math.floor(modified / 1000) * 1000
  if (conditions.ifMatch !== undefined && conditions.ifMatch !== '') {
    if (!matchesEtag(conditions.ifMatch, etag, false)) return 412
  } else {
    const limit = parseHttpDate(conditions.ifUnmodifiedSince)
    if (limit !== undefined && changed > limit) return 412
  }
  if (conditions.ifNoneMatch !== undefined && conditions.ifNoneMatch !== '')
    return matchesEtag(conditions.ifNoneMatch, etag, true) ? 304 : 200
  const since = parseHttpDate(conditions.ifModifiedSince)
  return since !== undefined && changed <= since ? 304 : 200
}

/** Returns whether a list of entity tags contains this one. `*` matches any; weak tags match only if `weakly`. */
function matchesEtag(list: string, etag: string, weakly: boolean): boolean {
  for (let rest = list; ;) {
    if (/^[\s,]*\*/.test(rest)) return true
    const found = etagPattern.exec(rest)
    if (!found?.groups) return false
    if (found.groups['opaque'] === etag && (weakly || found.groups['weak'] === undefined)) return true
    rest = rest.slice(found[0].length)
  }
}

/** Accepts the three date forms of HTTP and returns undefined for anything else, which is then ignored. */
function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !httpDatePatterns.some((form) => form.test(text))) return undefined
  const time = Date.parse(/GMT|UTC/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
