// catalogd's HTTP API: all blobs or a selection, conditional requests, and what it rejects with Go's messages.
import { afterAll, describe, expect, test } from '@jest/globals'
import { request } from 'undici'
import { parseServedCatalogFile } from '../../../packages/fbc/src/api/served-catalog.ts'
import { startHttpServer, evaluateConditionalRequest } from '../../../packages/fbc-server/src/http-server.ts'
import { unusualCatalog } from './unusual-catalog.ts'

const catalogModifiedTimeMs = Date.UTC(2026, 10, 22, 10, 0, 0, 500)
const unusualCatalogBlobs = Object.entries(unusualCatalog)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .flatMap(([, text]) => parseServedCatalogFile(Buffer.from(text)).blobs)

const httpServer = await startHttpServer(unusualCatalogBlobs, {
  host: '127.0.0.1',
  port: 0,
  modified: catalogModifiedTimeMs,
})
afterAll(() => httpServer.close(1000))

async function sendHttpRequest(
  path: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
) {
  const answer = await request(`http://127.0.0.1:${httpServer.port}${path}`, { headers, method })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}
const parseJsonLines = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { schema: string; package?: string; name?: string })
const allBlobsApiPath = '/api/v1/all'

describe('/api/v1/all', () => {
  test('returns every blob as a line of JSON with sorted keys, as opm converts the file', async () => {
    const { status, headers, text } = await sendHttpRequest(allBlobsApiPath)
    expect({ status, type: headers['content-type'], date: headers['last-modified'] }).toEqual({
      status: 200,
      type: 'application/jsonl',
      date: 'Sun, 22 Nov 2026 10:00:00 GMT',
    })
    expect(parseJsonLines(text)).toHaveLength(unusualCatalogBlobs.length)
    expect(text.split('\n')[0]).toBe(
      '{"defaultChannel":"stable","description":"The package\'s <own> words & more \\u2028","icon":{"base64data":"PHN2Zy8+","mediatype":"image/svg+xml"},"name":"metadata","schema":"olm.package"}',
    )
  })
  test('is not sent again to a client that has it', async () => {
    const { headers } = await sendHttpRequest(allBlobsApiPath)
    const etag = String(headers.etag)
    for (const [condition, status] of [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': '"other"' }, 200],
      [{ 'if-modified-since': 'Sun, 22 Nov 2026 10:00:00 GMT' }, 304],
      [{ 'if-modified-since': 'Sun, 22 Nov 2026 09:59:59 GMT' }, 200],
      [{ 'if-match': '"other"' }, 412],
    ] as const) {
      const answer = await sendHttpRequest(allBlobsApiPath, condition)
      expect({ condition, status: answer.status, empty: answer.text === '' }).toEqual({
        condition,
        status,
        empty: status !== 200,
      })
    }
  })
  test('returns only the length in response to HEAD', async () => {
    const [head, whole] = await Promise.all([
      sendHttpRequest(allBlobsApiPath, {}, 'HEAD'),
      sendHttpRequest(allBlobsApiPath),
    ])
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)))
  })
})

describe('/api/v1/metas', () => {
  test.each([
    ['schema=olm.package', 4],
    ['package=metadata', 5],
    ['schema=olm.bundle&package=metadata', 2],
    ['schema=olm.bundle&package=metadata&name=metadata.v1.0.0', 1],
    ['name=metadata', 1],
    ['schema=example.com.custom&package=', 3],
    ['schema=no.such', 0],
    ['', unusualCatalogBlobs.length],
  ])('%s returns the matching blobs', async (query, count) => {
    const { status, text } = await sendHttpRequest(`/api/v1/metas?${query}`)
    expect(status).toBe(200)
    expect(parseJsonLines(text)).toHaveLength(count)
    for (const [name, value] of new URLSearchParams(query))
      if (value !== '') for (const blob of parseJsonLines(text)) expect(blob).toMatchObject({ [name]: value })
  })
  test('rejects a parameter that catalogd does not support', async () => {
    expect(await sendHttpRequest('/api/v1/metas?schema=olm.package&version=1')).toMatchObject({
      status: 400,
      text: '400 Bad Request\n',
    })
  })
})

test('no other path exists, and nothing can be written', async () => {
  expect(await sendHttpRequest('/api/v1/other')).toMatchObject({ status: 404 })
  expect(await sendHttpRequest('/')).toMatchObject({ status: 404 })
  expect(await sendHttpRequest('//')).toMatchObject({ status: 404 })
  expect(await sendHttpRequest(allBlobsApiPath, {}, 'POST')).toMatchObject({
    status: 405,
    text: 'Method Not Allowed\n',
  })
})

describe('conditions', () => {
  const at = (text: string) => Date.parse(text)
  const representation = { etag: '"a"', modified: at('2026-11-22T10:00:00.900Z') }
  const date = 'Sun, 22 Nov 2026 10:00:00 GMT'
  const earlier = 'Sunday, 22-Nov-26 09:00:00 GMT'
  const later = 'Sun Nov 22 11:00:00 2026'
  test.each([
    [{}, 200],
    [{ ifNoneMatch: '"b", W/"a"' }, 304],
    [{ ifNoneMatch: '*' }, 304],
    [{ ifNoneMatch: '"b"', ifModifiedSince: date }, 200],
    [{ ifNoneMatch: 'a' }, 200],
    [{ ifMatch: '"b", "a"' }, 200],
    [{ ifMatch: 'W/"a"' }, 412],
    [{ ifMatch: '*' }, 200],
    [{ ifMatch: '"a"', ifUnmodifiedSince: earlier }, 200],
    [{ ifUnmodifiedSince: earlier }, 412],
    [{ ifUnmodifiedSince: date }, 200],
    [{ ifModifiedSince: later }, 304],
    [{ ifModifiedSince: earlier }, 200],
    [{ ifModifiedSince: 'tomorrow' }, 200],
    [{ ifModifiedSince: '2027-01-01' }, 200],
  ] as const)('%j have the status %d', (headers, expected) => {
    expect(evaluateConditionalRequest(headers, representation)).toBe(expected)
  })
})
