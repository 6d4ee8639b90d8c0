// Open pages update when their repository changes, only for people who may see it, and within limits.
import { request, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../../browser.ts'
import { reportSkippedTest } from '../../left-out.ts'
import {
  createEvaluationRecord,
  fillPagesStore,
  longResolverText,
  privateFindingText,
  privateRepository,
  publicRepository,
  recordRepositories,
} from './fill-pages-store.ts'
import { signInViaGitHub, startPagesFixture, startTimeMs } from './pages-fixture.ts'

const testIfBrowserInstalled = hasBrowser ? test : test.skip
if (!hasBrowser) reportSkippedTest('chromium')

const fixture = await startPagesFixture()
for (const login of ['ann', 'eve']) fixture.github.createUser(login)
fixture.github.createOrganization('coast', ['ann'])
for (const { name } of [publicRepository, privateRepository])
  await fixture.github.createRepository('coast', name, { private: name === privateRepository.name })
await fillPagesStore(fixture.store)
afterAll(() => fixture?.close())

const path = '/r/coast/operators'
const privatePath = '/r/coast/secret-operators'

interface EventStream {
  readonly reply: IncomingMessage
  /** Resolves to the next lines that match, and rejects if the stream ends before. */
  next(pattern: RegExp): Promise<string>
  readonly ended: Promise<void>
}

async function openStream(
  of: string,
  headers: Record<string, string> = {},
  address = fixture.url,
): Promise<EventStream> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${address}${of}/events`, { headers }, resolve).on('error', reject).end()
  })
  let text = ''
  reply.setEncoding('utf8').on('data', (part: string) => (text += part))
  const ended = new Promise<void>((resolve) => reply.on('close', resolve))
  return {
    reply,
    ended,
    next: async (pattern) => {
      for (;;) {
        const found = pattern.exec(text)
        if (found) {
          text = text.slice(found.index + found[0].length)
          return found[0]
        }
        await new Promise<void>((resolve, reject) => {
          reply.once('data', () => resolve())
          void ended.then(() => reject(new Error('the stream ended')))
        })
      }
    },
  }
}

const updatePullTitle = (title: string) =>
  fixture.store.recordEvaluation(createEvaluationRecord(13, 'merge', { title, author: 'erin' }))

describe('the stream of a repository', () => {
  test('announces each change once, without its content, and cached pages are rendered again', async () => {
    const stream = await openStream(path)
    expect(stream.reply.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    const first = await stream.next(/data: [\da-f]{16}\n\n/)
    const before = await (await fetch(`${fixture.url}${path}`)).text()
    await updatePullTitle('buoy 3.2.1')
    expect(await stream.next(/data: [\da-f]{16}\n\n/)).not.toBe(first)
    const after = await (await fetch(`${fixture.url}${path}`)).text()
    expect([before.includes('buoy 3.2.1'), after.includes('buoy 3.2.1')]).toEqual([false, true])
    // Heartbeats follow, but no event without a change.
    expect(await stream.next(/[\s\S]*:\n\n/)).not.toContain('data')
    stream.reply.destroy()
  })

  test('is hidden like the pages of the repository', async () => {
    const ann = (await signInViaGitHub(fixture, 'ann')).cookie
    const eve = (await signInViaGitHub(fixture, 'eve')).cookie
    for (const headers of [{}, { cookie: eve }] as Record<string, string>[])
      for (const hidden of [privatePath, '/r/coast/no-such-repository']) {
        const { reply } = await openStream(hidden, headers)
        expect(reply.statusCode).toBe(404)
      }
    const stream = await openStream(privatePath, { cookie: ann })
    await stream.next(/data: /)
    expect(stream.reply.statusCode).toBe(200)
    stream.reply.destroy()
    expect((await fetch(`${fixture.url}${path}/events`, { method: 'POST' })).status).toBe(404)
  })

  test('ends when the visitor signs out, here and at the next heartbeat of another instance', async () => {
    const cookie = (await signInViaGitHub(fixture, 'ann')).cookie
    const other = await fixture.serve(fixture.environment)
    const streams = await Promise.all([
      openStream(privatePath, { cookie }),
      openStream(privatePath, { cookie }, other),
      openStream(path, { cookie }),
    ])
    await Promise.all(streams.map((stream) => stream.next(/data: /)))
    await fetch(`${fixture.url}/sign-out`, { method: 'POST', headers: { cookie, origin: fixture.url } })
    await Promise.all(streams.map(({ ended }) => ended))
  })

  test('ends when the visitor loses access, or the repository is no longer known to be public', async () => {
    const { store, github, time } = fixture
    const cookie = (await signInViaGitHub(fixture, 'ann')).cookie
    const [hidden, open] = [await openStream(privatePath, { cookie }), await openStream(path)]
    await Promise.all([hidden, open].map((stream) => stream.next(/data: /)))
    const release = github.fail('GET /repos/{owner}/{repo}', { status: 404 }, 100)
    time.now += 6 * 60_000
    await hidden.ended
    release()
    time.now += 60 * 60_000
    await open.ended
    await recordRepositories(store, time.now)
    // The list is cached for some seconds.
    time.now += 10_000
  })

  test('is limited to a few for each address', async () => {
    const from = (address: string) => openStream(path, { 'x-forwarded-for': address })
    const streams = await Promise.all(Array.from({ length: 14 }, () => from('203.0.113.7')))
    expect(streams.filter(({ reply }) => reply.statusCode === 503)).toHaveLength(2)
    const other = await from('203.0.113.8')
    expect(other.reply.statusCode).toBe(200)
    for (const { reply } of [...streams, other]) reply.destroy()
  })

  test('does not delay the shutdown, and reads nothing once no page is open', async () => {
    const { store } = fixture
    const own = await startPagesFixture()
    await recordRepositories(own.store, startTimeMs)
    const stream = await openStream(path, {}, own.url)
    await stream.next(/data: /)
    const began = performance.now()
    await own.close()
    await stream.ended
    expect(performance.now() - began).toBeLessThan(5_000)
    expect(own.log).toEqual([])
    let reads = 0
    const original = store.readRepositoryVersions.bind(store)
    store.readRepositoryVersions = (...given) => ((reads += 1), original(...given))
    await new Promise((resolve) => setTimeout(resolve, 100))
    store.readRepositoryVersions = original
    expect(reads).toBe(0)
  })
})

describe('the queue', () => {
  const readQueue = async (query: string) =>
    (await (await fetch(`${fixture.url}${path}.json?${query}`)).json()) as {
      pulls: readonly { pull: number }[]
    }
  test.each([
    ['state=blocked', [15]],
    ['state=nonsense', [12, 13, 14, 15, 16]],
    ['author=ERIN', [13]],
    ['package=tidepool', [14, 15]],
    ['package=tidepool&state=wait', [14]],
    ['author=no-one', []],
    ['after=14', [15, 16]],
    ['author=&package=', [12, 13, 14, 15, 16]],
  ])('is filtered by %s', async (query, pulls) => {
    expect((await readQueue(query)).pulls.map(({ pull }) => pull)).toEqual(pulls)
  })

  test('keeps what a visitor typed as text, and never serves a filtered list for the whole one', async () => {
    const typed = '"><script>alert(1)</script>'
    const page = await (
      await fetch(`${fixture.url}${path}?author=${encodeURIComponent(typed)}&state=wait`)
    ).text()
    expect(page).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"')
    expect(page).toContain('No open pull requests match.')
    expect(await (await fetch(`${fixture.url}${path}`)).text()).toContain('breakwater 2.0.0')
  })
})

describe('with hundreds of pull requests with long texts', () => {
  beforeAll(async () => {
    const text = longResolverText.slice(0, 600)
    const who = Array.from({ length: 20 }, (_, at) => `coast/team-with-a-long-name-${at}`)
    for (let pull = 100; pull < 300; pull++)
      await fixture.store.recordEvaluation(
        createEvaluationRecord(pull, 'wait', {
          title: `a long title ${'x'.repeat(200)}`,
          reasons: Array.from({ length: 20 }, () => ({ code: 'approval' as const, text, who })),
        }),
      )
  })

  test('each page of the queue has at most 100 KiB, and links to the next', async () => {
    const seen: string[] = []
    for (let to: string | undefined = `${path}?state=wait`; to !== undefined;) {
      const page = await (await fetch(`${fixture.url}${to}`)).text()
      expect(Buffer.byteLength(page)).toBeLessThan(100 * 1024)
      seen.push(
        ...[...page.matchAll(/<th scope="row"><a href="[^"]*\/pull\/(\d+)"/g)].map(([, pull = '']) => pull),
      )
      to = /rel="next" href="(?<to>[^"]+)"/.exec(page)?.groups?.['to']?.replaceAll('&amp;', '&')
    }
    expect(seen).toEqual(['14', ...Array.from({ length: 200 }, (_, at) => String(at + 100))])
    const pull = await (await fetch(`${fixture.url}${path}/pull/100`)).text()
    expect(Buffer.byteLength(pull)).toBeLessThan(100 * 1024)
  })
})

describe('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    if (hasBrowser) browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  testIfBrowserInstalled('a page updates, and keeps what is open and what is being typed', async () => {
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(`${fixture.url}${path}/pull/15`)
    await page.getByText('findings that do not block').click()
    await page.getByText('This page updates automatically.').waitFor()
    await fixture.store.recordEvaluation(createEvaluationRecord(15, 'blocked', { title: 'retitled' }))
    await page.getByRole('heading', { name: 'retitled' }).waitFor()
    expect(await page.locator('details#advisory').getAttribute('open')).toBe('')
    await page.goto(`${fixture.url}${path}?state=merge`)
    await page.getByText('This page updates automatically.').waitFor()
    await page.getByLabel('Author').fill('eri')
    await updatePullTitle('buoy 9.9.9')
    // Longer than the page waits before it loads itself again.
    await page.waitForTimeout(700)
    expect(await page.getByLabel('Author').inputValue()).toBe('eri')
    await page.getByLabel('Author').fill('erin')
    await page.keyboard.press('Enter')
    await page.getByText('buoy 9.9.9').waitFor()
    expect(page.url()).toContain('author=erin')
    expect(await page.locator('tbody th a').count()).toBe(1)
    expect(await page.content()).not.toContain(privateFindingText)
    expect(errors).toEqual([])
  })

  testIfBrowserInstalled('everything works without scripts', async () => {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
    await page.goto(`${fixture.url}${path}`)
    await page.getByText('Reload the page for the latest state.').waitFor()
    await page.getByLabel('Author').fill('mallory')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('link', { name: '#14' }).click()
    await page.getByRole('heading', { name: 'tidepool 0.6.0' }).waitFor()
  })
})
