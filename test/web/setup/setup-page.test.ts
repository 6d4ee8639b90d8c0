// GitHub redirects the browser with the code for the App's key, never to an address that only a Host header contains.
import { request } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { startSetupServer, type RunningSetupServer } from '../../../src/web/setup/setup-page.ts'

let setupServer: RunningSetupServer | undefined
afterEach(() => setupServer?.close())

async function requestSetupPage(host: string, target: string, publicUrl?: string) {
  setupServer = await startSetupServer({
    host: '127.0.0.1',
    port: 0,
    token: 'the-word',
    gitUrl: 'https://github.example.org',
    apiUrl: 'https://github.example.org/api/v3',
    publicUrl,
    sweepSeconds: 60,
    manifest: {},
    onCreated: () => Promise.resolve(),
  })
  const { port } = setupServer
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { host, 'x-forwarded-proto': 'https', 'x-forwarded-host': host }
    request({ host: '127.0.0.1', port, path: target, headers }, (reply) => {
      let text = ''
      reply
        .on('data', (part) => (text += String(part)))
        .on('end', () => {
          resolve({ status: reply.statusCode ?? 0, text })
        })
    })
      .on('error', reject)
      .end()
  })
}
const setupPagePath = '/setup?word=the-word&name=bot&organization=coast'
const findRedirectUrl = (text: string) =>
  /redirect_url&quot;:&quot;(?<url>[^&]+)&quot;/.exec(text)?.groups?.['url']

test.each([
  ['localhost:8080', setupPagePath, undefined, 'http://localhost:8080/setup/created'],
  ['127.0.0.1:3000', setupPagePath, 'https://bot.example.com', 'http://127.0.0.1:3000/setup/created'],
  ['evil.example', setupPagePath, 'https://bot.example.com', 'https://bot.example.com/setup/created'],
  [
    'evil.example',
    `${setupPagePath}&address=https://bot.example.com`,
    undefined,
    'https://bot.example.com/setup/created',
  ],
])('for the host %s, %s redirects to a URL of the operator', async (host, target, publicUrl, expected) => {
  const { status, text } = await requestSetupPage(host, target, publicUrl)
  expect([status, findRedirectUrl(text)]).toEqual([200, expected])
  expect(text).not.toContain('evil')
})

test.each([
  'evil.example',
  'localhost.evil.example',
  'localhost:80@evil.example',
  '127.0.0.1.evil.example:80',
])('for the host %s without a configured URL, there is no manifest', async (host) => {
  const { status, text } = await requestSetupPage(host, setupPagePath)
  expect([status, findRedirectUrl(text)]).toEqual([422, undefined])
  expect(text).toContain('PUBLIC_URL')
  expect(text).not.toContain('evil')
})

test.each(['//', 'http://[', '*', '/\\evil', '/%00', '/setup/created?code=%00&state=%ff'])(
  '%s is not found',
  async (target) => expect((await requestSetupPage('localhost', target)).status).toBe(404),
)
