// The status pages as people and programs see them: access, escaping, accessibility, and signing in with GitHub. All
// tests share one store, one GitHub, and one browser.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { scriptAsset } from '../../../src/web/pages/page-assets.ts'
import { GitHubOAuthClient } from '../../../src/adapters/github/oauth-client.ts'
import { recordRateLimitWait } from '../../../src/jobs/rate-limit-waits.ts'
import type { Job } from '../../../src/ports/jobs.ts'
import { hasBrowser, launchBrowser } from '../../browser.ts'
import { reportSkippedTest } from '../../left-out.ts'
import {
  fillPagesStore,
  maliciousHtmlText,
  recordRepositories,
  msPerMinute,
  publicRepository,
  privateRepository,
  privateFindingText,
} from './fill-pages-store.ts'
import { signInViaGitHub as signInAt, startTimeMs, startPagesFixture } from './pages-fixture.ts'

const testIfBrowserInstalled = hasBrowser ? test : test.skip
if (!hasBrowser) reportSkippedTest('chromium')

let browser: Browser | undefined
const fixture = await startPagesFixture()
for (const login of ['ann', 'eve']) fixture.github.createUser(login)
fixture.github.createOrganization('coast', ['ann'])
for (const [{ name }, isPrivate] of [
  [publicRepository, false],
  [privateRepository, true],
] as const)
  await fixture.github.createRepository('coast', name, { private: isPrivate })
await fillPagesStore(fixture.store)
if (hasBrowser) browser = await launchBrowser()
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})

/** Advances the time, and lists again where the App is installed. */
async function advanceClockMinutes(minutes: number): Promise<void> {
  fixture.time.now += minutes * msPerMinute
  await recordRepositories(fixture.store, fixture.time.now)
}
// So many requests would exceed the rate limit without a pause.
beforeEach(() => advanceClockMinutes(1))

const fetchPage = (path: string, init: RequestInit = {}, address = fixture.url) =>
  fetch(`${address}${path}`, { redirect: 'manual', ...init })
const fetchPageText = async (path: string, init?: RequestInit) => (await fetchPage(path, init)).text()
const fetchPageJson = async (path: string): Promise<unknown> =>
  (await fetchPage(path, { headers: { accept: 'application/json' } })).json()

const publicRepositoryPath = '/r/coast/operators'
const allPagePaths = [
  '/',
  '/overview',
  '/merged',
  '/rules',
  '/rules/several-heads',
  publicRepositoryPath,
  `${publicRepositoryPath}/pull/11`,
  `${publicRepositoryPath}/pull/15`,
  `${publicRepositoryPath}/overview`,
  `${publicRepositoryPath}/merged`,
  `${publicRepositoryPath}/catalog`,
  `${publicRepositoryPath}/catalog/v4.20`,
  `${publicRepositoryPath}/catalog/v4.20/lighthouse`,
  `${publicRepositoryPath}/compare`,
  `${publicRepositoryPath}/operations`,
] as const
const queryPaths = ['catalog?q=light', 'catalog/v4.20/lighthouse?list=images'].map(
  (path) => `${publicRepositoryPath}/${path}`,
)

describe('a visitor who is not signed in', () => {
  test.each(allPagePaths)('reads %s, and the same as JSON', async (path) => {
    const reply = await fetchPage(path)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'/)
    const text = await reply.text()
    const page = text.replace(`<script src="${scriptAsset.url}" defer></script>`, '')
    expect(page).not.toMatch(/<script|<img|onerror="|style="|\u202E/)
    const ending = path === '/' ? '/home.json' : `${path}.json`
    expect(page).toContain(`href="${ending}"`)
    expect(await (await fetchPage(ending)).text()).toBe(
      await (await fetchPage(path, { headers: { accept: 'application/json' } })).text(),
    )
  })

  test('sees who must act, what is being merged, and what is frozen', async () => {
    expect(await fetchPageJson(publicRepositoryPath)).toMatchObject({
      merging: [{ pull: 12, how: 'by catalog-bot' }],
      stops: [{ branch: 'release-4.20', by: '@harbormaster', command: '/unfreeze' }],
      pulls: [
        { pull: 12, state: 'merging' },
        { pull: 13, state: 'behind', behind: 12 },
        { pull: 14, state: 'wait', who: ['bob', 'coast/tidepool-owners'] },
        { pull: 15, state: 'blocked', title: maliciousHtmlText },
        { pull: 16, state: 'unknown' },
      ],
    })
  })

  test("sees which jobs wait for GitHub's rate limit, and until when", async () => {
    const { store, time } = fixture
    const about = { installation: 1, repository: publicRepository }
    const waits = (job: Job, seconds: number) => recordRateLimitWait(job, seconds, time.now, store)
    // This pull request was evaluated since then.
    const before = startTimeMs - 20 * 24 * 60 * msPerMinute
    await recordRateLimitWait({ kind: 'pull', ...about, pull: toPullNumber(15) }, 40 * 86_400, before, store)
    await waits({ kind: 'pull', ...about, pull: toPullNumber(14) }, 600)
    await waits({ kind: 'sweep', ...about }, 1800)
    await waits({ kind: 'train', ...about, branch: 'main' }, 60)
    expect(await fetchPageJson(publicRepositoryPath)).toMatchObject({
      limited: [
        { kind: 'train', until: time.now + msPerMinute },
        { kind: 'pull', pulls: 1, until: time.now + 10 * msPerMinute },
        { kind: 'sweep', until: time.now + 30 * msPerMinute },
      ],
    })
    const plain = async (path: string) => (await fetchPageText(path)).replaceAll(/<[^>]+>/g, '')
    expect(await plain(publicRepositoryPath)).toMatch(
      /This installation has reached GitHub's rate limit.*Merging resumes in a moment\..*Checking 1 pull request resumes in 10 minutes.*The sweep of all open pull requests resumes in 30 minutes/s,
    )
    expect(await fetchPageJson(`${publicRepositoryPath}/pull/14`)).toMatchObject({
      limitedUntil: time.now + 10 * msPerMinute,
    })
    expect(await plain(`${publicRepositoryPath}/pull/14`)).toContain(
      'will check this pull request again in 10 minutes',
    )
    expect(await fetchPageJson(`${publicRepositoryPath}/pull/15`)).not.toHaveProperty('limitedUntil')
  })

  test('sees why a pull request was merged', async () => {
    const page = (await fetchPageText(`${publicRepositoryPath}/pull/11`)).replaceAll(/<[^>]+>/g, '')
    for (const expected of [
      'All required checks passed: ownership: passed (1 file, 1 package); validation: passed (1 catalog)',
      'Approved by alice',
      'Images: published',
      'registry.example/coast/catalog:v4.20 is published',
      'An owner of lighthouse must approve.',
    ])
      expect(page).toContain(expected)
    expect(await fetchPageJson(`${publicRepositoryPath}/pull/11`)).toMatchObject({
      state: 'merged',
      history: [{ verdict: 'merge' }, { verdict: 'wait' }],
      commands: [{ command: 'approve', login: 'alice', outcome: 'done' }],
      changeLines: [expect.stringContaining('lighthouse')],
    })
  })

  test('sees the images of packages, when they were last seen, and which are missing', async () => {
    const { packages } = (await fetchPageJson(`${publicRepositoryPath}/catalog/v4.20`)) as {
      packages: { name: string; owners: string[] }[]
    }
    expect(packages.map(({ name }) => name)).toContain('lighthouse')
    const shown = (await Promise.all(
      packages.map(({ name }) => fetchPageJson(`${publicRepositoryPath}/catalog/v4.20/${name}`)),
    )) as { images: { digest?: string; seenAt?: number; missing?: string }[] }[]
    const images = shown.flatMap((one) => one.images)
    expect(images.filter(({ digest }) => digest?.startsWith('sha256:abab'))).toHaveLength(1)
    expect(images.filter(({ missing }) => missing?.includes('404'))).toHaveLength(1)
    expect(await fetchPageText(`${publicRepositoryPath}/catalog/v4.20/lighthouse`)).toMatch(
      /<svg role="img"[\s\S]*lighthouse/,
    )
  })

  test('gets a feed of what was merged, and a badge', async () => {
    const feed = await fetchPage('/merged.atom')
    expect(feed.headers.get('content-type')).toContain('application/atom+xml')
    expect(await feed.text()).toContain(`<id>${fixture.url}${publicRepositoryPath}/pull/11</id>`)
    const badge = await fetchPage('/badge/coast/operators.svg')
    expect(badge.headers.get('content-type')).toContain('image/svg+xml')
    expect(await badge.text()).toContain('merging is frozen')
  })

  test('gets no body for a matching ETag or a HEAD request', async () => {
    const first = await fetchPage(publicRepositoryPath)
    const again = await fetchPage(publicRepositoryPath, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    const head = await fetchPage(publicRepositoryPath, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      first.headers.get('content-length'),
      '',
    ])
    expect((await fetchPage(publicRepositoryPath, { method: 'PUT' })).status).toBe(405)
  })

  test('cannot distinguish a private repository from one that does not exist', async () => {
    for (const path of [
      '',
      '/pull/3',
      '/overview',
      '/merged',
      '/merged.atom',
      '/catalog',
      '/compare',
      '/operations',
      '.json',
    ]) {
      const [one, other] = await Promise.all(
        ['secret-operators', 'no-such-repository'].map((name) => fetchPage(`/r/coast/${name}${path}`)),
      )
      expect([one?.status, other?.status]).toEqual([404, 404])
      expect((await one?.text())?.replaceAll('secret-operators', 'no-such-repository')).toBe(
        await other?.text(),
      )
    }
    expect((await fetchPage('/badge/coast/secret-operators.svg')).status).toBe(404)
    for (const path of ['/', '/home.json', '/overview.json', '/merged.json'])
      expect(await fetchPageText(path)).not.toMatch(new RegExp(`${privateFindingText}|secret-operators`))
  })

  test('finds nothing if GitHub has not confirmed for an hour that a repository is public', async () => {
    fixture.time.now += 61 * msPerMinute
    expect((await fetchPage(publicRepositoryPath)).status).toBe(404)
    expect(await fetchPageText('/home.json')).not.toContain('operators')
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/sign-in?to=/r/a/b',
    '/r/coast/operators?x=//evil.example',
    'javascript:alert(1)',
  ])('is never redirected to another site by %s', async (to) => {
    const reply = await fetchPage(`/sign-in?to=${encodeURIComponent(to)}`)
    const target = new URL(reply.headers.get('location') ?? '')
    expect(target.origin).toBe(fixture.github.url)
    expect(target.searchParams.get('redirect_uri')).toBe(`${fixture.url}/sign-in/back`)
    expect(target.searchParams.get('code_challenge_method')).toBe('S256')
    expect(target.href).not.toContain('evil')
    expect(reply.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/)
  })

  test('cannot return from GitHub with the state of another browser', async () => {
    const [mine, theirs] = await Promise.all([fetchPage('/sign-in'), fetchPage('/sign-in')])
    const state = new URL(theirs?.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const cookie = mine?.headers.get('set-cookie')?.split(';')[0] ?? ''
    const reply = await fetchPage(`/sign-in/back?code=abc&state=${state}`, { headers: { cookie } })
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([403, null])
  })

  test('is rate limited after too many requests, without affecting other addresses', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const replies = await Promise.all(
      Array.from({ length: 125 }, () => fetchPage('/rules/no-icon', from('203.0.113.9'))),
    )
    const rateLimited = replies.filter(({ status }) => status === 429)
    expect(rateLimited.length).toBeGreaterThan(0)
    expect(rateLimited[0]?.headers.get('retry-after')).toBe('30')
    expect((await fetchPage('/rules/no-icon', from('203.0.113.10'))).status).toBe(200)
    for (const reply of replies) await reply.body?.cancel()
  })
})

describe('a URL', () => {
  /** Sent unchanged, because `fetch` would normalize it. */
  const status = async (target: string, more: { headers?: Record<string, string> } = {}) => {
    const { port } = new URL(fixture.url)
    return new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: target, ...more }, (reply) => {
        reply.resume()
        resolve(reply.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  }
  const bad = [
    ...['%00', '%0', '%', '%%', '%ff%fe', '%c0%80', '%ed%a0%80', '%f4%90%80%80', '%0d%0aX:y', '%1b', '%7f'],
    ...[
      '..',
      '%2e%2e',
      '..%2f..%2fetc',
      '\\',
      '%5c..%5c',
      '9'.repeat(400),
      'a'.repeat(7000),
      '%252e',
      ';x',
      '*',
    ],
    ...['%e2%80%ae', '-1', '1e9', '0x10', '2147483648', '99999999999', '__proto__', 'constructor'],
  ]
  const targetBuilders = [
    (it: string) => `/${it}`,
    (it: string) => `//${it}`,
    (it: string) => `/rules/${it}`,
    (it: string) => `/badge/${it}/x.svg`,
    (it: string) => `/badge/coast/${it}.svg`,
    (it: string) => `/r/${it}/operators`,
    (it: string) => `/r/coast/${it}`,
    ...[
      '',
      'pull/',
      'catalog/',
      'catalog/v4.20/',
      'merged/',
      'overview/',
      'resume/',
      'catalog/v4.20/lighthouse/',
    ].map((below) => (it: string) => `${publicRepositoryPath}/${below}${it}`),
    (it: string) => `${publicRepositoryPath}/catalog/${it}/lighthouse`,
    (it: string) => `${publicRepositoryPath}/catalog/v4.20/${it}.json`,
    (it: string) => `/merged${it}.atom`,
    (it: string) => `/sign-in/${it}`,
  ]
  const queries = [
    (it: string) => `/merged?before=${it}`,
    (it: string) => `${publicRepositoryPath}?${it}=${it}`,
    (it: string) => `${publicRepositoryPath}/catalog?q=${it}&page=${it}`,
    (it: string) => `${publicRepositoryPath}/catalog/v4.20/lighthouse?channel=${it}&list=${it}`,
    (it: string) => `${publicRepositoryPath}/compare?from=${it}&to=${it}`,
    (it: string) => `/pages.css?v=${it}`,
    (it: string) => `/sign-in?to=${it}`,
    (it: string) => `/sign-in/back?code=${it}&state=${it}`,
  ]

  test('that is malformed never causes a server error', async () => {
    let requestCount = 0
    for (const place of [...targetBuilders, ...queries])
      await Promise.all(
        bad.map(async (it) => {
          const target = place(it)
          // Each from a different client address, so that none is rate limited.
          const from = {
            'x-forwarded-for': `198.51.${Math.floor(++requestCount / 250)}.${requestCount % 250}`,
          }
          const got = await status(target, { headers: from })
          expect([target, got >= 200 && got < 500]).toEqual([target, true])
          // None of these is a page.
          if (/%00|%ff|%c0|%ed%a0|%1b|\\/.test(it) && !queries.includes(place))
            expect([target, got]).toEqual([target, 404])
        }),
      )
    for (const target of ['http://evil.example/', 'http://[', '*', '/\\evil.example'])
      expect([target, await status(target)]).toEqual([target, 404])
    expect(fixture.log.filter((line) => line.includes('a page could not be rendered'))).toEqual([])
  })

  test('with another spelling or extra parameters gets no cache entry', async () => {
    const { store } = fixture
    let reads = 0
    const original = store.listOpenPullRecords.bind(store)
    store.listOpenPullRecords = (...given) => ((reads += 1), original(...given))
    try {
      await advanceClockMinutes(1)
      const made = await fetchPageText(publicRepositoryPath)
      const first = reads
      for (let turn = 0; turn < 20; turn++)
        expect(await fetchPageText(`${publicRepositoryPath}?x=${turn}&${turn}`)).toBe(made)
      expect(reads).toBe(first)
      // Each of these is rendered again; the cached entry is still that of the page.
      for (const path of ['/r/Coast/operators', '/r/coast/%6fperators', `${publicRepositoryPath}?before=3`]) {
        const before = reads
        await fetchPageText(path)
        await fetchPageText(path)
        expect([path, reads - before]).toEqual([path, 2 * first || 2])
      }
      expect(await fetchPageText(publicRepositoryPath)).toBe(made)
    } finally {
      store.listOpenPullRecords = original
    }
  })

  test('is never built from a Host header', async () => {
    const plain = await fixture.serve({})
    for (const path of [
      '/',
      publicRepositoryPath,
      `${publicRepositoryPath}/merged`,
      '/merged.atom',
      `${publicRepositoryPath}/merged.atom`,
      '/badge/coast/operators.svg',
    ])
      for (const address of [plain, fixture.url]) {
        await advanceClockMinutes(1)
        const { port } = new URL(address)
        const text = await new Promise<string>((resolve) => {
          const headers = {
            host: 'attacker.example',
            'x-forwarded-host': 'attacker.example',
            forwarded: 'host=attacker.example',
          }
          request({ host: '127.0.0.1', port, path, headers }, (reply) => {
            let all = ''
            reply.on('data', (part) => (all += String(part))).on('end', () => resolve(all))
          }).end()
        })
        expect(text.length).toBeGreaterThan(100)
        expect(text).not.toContain('attacker')
      }
    const feed = await (await fetchPage(`${publicRepositoryPath}/merged.atom`, {}, plain)).text()
    expect(feed).toContain(`<id>${fixture.github.url}/coast/operators</id>`)
    expect(feed).toContain(`<id>${fixture.github.url}/coast/operators/pull/11</id>`)
  })
})

describe('the settings', () => {
  test('PAGES=off serves no repository, and PAGES=signed-in none without signing in', async () => {
    const off = await fixture.serve({ PAGES: 'off' })
    expect((await fetchPage(publicRepositoryPath, {}, off)).status).toBe(404)
    const client = {
      CLIENT_ID: 'Iv1.1',
      CLIENT_SECRET: 'x'.repeat(20),
      PUBLIC_URL: 'https://bot.example.com',
    }
    const signedIn = await fixture.serve({ PAGES: 'signed-in', ...client })
    for (const path of ['/', publicRepositoryPath, '/merged.atom', '/badge/coast/operators.svg'])
      expect((await fetchPage(path, {}, signedIn)).status).toBeGreaterThanOrEqual(400)
    expect((await fetchPage('/rules/no-icon', {}, signedIn)).status).toBe(200)
    const cookie = (await fetchPage('/sign-in', {}, signedIn)).headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^__Host-.*; Secure$/)
  })
  test('without a client, signing in is unavailable and public repositories are visible', async () => {
    const plain = await fixture.serve({})
    expect((await fetchPage('/sign-in', {}, plain)).status).toBe(404)
    expect((await fetchPage(publicRepositoryPath, {}, plain)).status).toBe(200)
    expect((await fetchPage('/r/coast/secret-operators', {}, plain)).status).toBe(404)
  })
})

const signInViaGitHub = (login: string, to?: string) => signInAt(fixture, login, to)

describe('a signed-in user', () => {
  test('can read what GitHub lets them read, and returns to where they were', async () => {
    const ann = await signInViaGitHub('ann', '/r/coast/secret-operators/pull/3')
    expect(ann.location).toBe('/r/coast/secret-operators/pull/3')
    const page = await fetchPage(ann.location, { headers: { cookie: ann.cookie } })
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect(await page.text()).toContain(privateFindingText)
    expect(await fetchPageText('/home.json', { headers: { cookie: ann.cookie } })).toContain(
      'secret-operators',
    )
    // GitHub's answer is cached, so the next pages send no request.
    const before = fixture.github.requests.length
    await fetchPageText('/r/coast/secret-operators', { headers: { cookie: ann.cookie } })
    expect(fixture.github.requests.length).toBe(before)
    // A page rendered for one user is not shown to others.
    expect((await fetchPage(ann.location)).status).toBe(404)
  })

  test('gets the same response for an unreadable repository as for a nonexistent one', async () => {
    const { cookie } = await signInViaGitHub('eve')
    const [one, other] = await Promise.all(
      ['secret-operators', 'no-such-repository'].map((name) =>
        fetchPage(`/r/coast/${name}`, { headers: { cookie } }),
      ),
    )
    expect([one?.status, other?.status]).toEqual([404, 404])
    expect((await one?.text())?.replaceAll('secret-operators', 'no-such-repository')).toBe(
      await other?.text(),
    )
    expect(await fetchPageText('/home.json', { headers: { cookie } })).not.toContain('secret')
  })

  test('loses access within minutes if GitHub revokes it or does not respond', async () => {
    await advanceClockMinutes(10)
    const { cookie } = await signInViaGitHub('ann')
    const path = '/r/coast/secret-operators'
    expect((await fetchPage(path, { headers: { cookie } })).status).toBe(200)
    const release = fixture.github.fail('GET /repos/{owner}/{repo}', { status: 502 }, 10)
    await advanceClockMinutes(6)
    expect((await fetchPage(path, { headers: { cookie } })).status).toBe(503)
    release()
    fixture.github.fail('GET /repos/{owner}/{repo}', { status: 404 }, 1)
    expect((await fetchPage(path, { headers: { cookie } })).status).toBe(404)
    await advanceClockMinutes(61)
    // The session has expired.
    expect(await fetchPageText('/', { headers: { cookie } })).not.toContain('signed in as')
  })

  test('has an encrypted, tamper-proof cookie, and no token in the log', async () => {
    const { cookie } = await signInViaGitHub('ann')
    const [name = '', value = ''] = cookie.split('=')
    expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('ghu_')
    for (const at of [0, 20, value.length - 1]) {
      const changed = `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`
      expect(
        (await fetchPage('/r/coast/secret-operators', { headers: { cookie: `${name}=${changed}` } })).status,
      ).toBe(404)
    }
    expect(fixture.log.join('\n')).not.toContain('ghu_')
  })

  test('unfreezes a branch, but only from one of our pages', async () => {
    const { cookie } = await signInViaGitHub('ann')
    const page = await fetchPageText(publicRepositoryPath, { headers: { cookie } })
    const word = /name="word" value="(?<word>[^"]+)"/.exec(page)?.groups?.['word'] ?? ''
    const post = (fields: Record<string, string>, origin = fixture.url, by = cookie) =>
      fetchPage(`${publicRepositoryPath}/resume`, {
        method: 'POST',
        headers: { cookie: by, origin },
        body: new URLSearchParams({ kind: 'frozen', branch: 'release-4.20', word, ...fields }),
      })
    expect((await post({}, 'https://evil.example')).status).toBe(403)
    expect((await post({ word: 'guessed' })).status).toBe(403)
    expect((await post({}, fixture.url, '')).status).toBe(403)
    expect(fixture.resumed).toEqual([])
    expect((await post({})).status).toBe(303)
    expect(fixture.resumed).toMatchObject([{ branch: 'release-4.20', kind: 'frozen', by: { login: 'ann' } }])
    expect(await fetchPageText(publicRepositoryPath)).not.toContain('name="word"')
  })

  test('signs out, and the session ends', async () => {
    const { cookie } = await signInViaGitHub('ann')
    const gone = await fetchPage('/sign-out', { method: 'POST', headers: { cookie, origin: fixture.url } })
    expect(gone.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(gone.headers.get('clear-site-data')).toBe('"cache"')
    // A copy of the cookie no longer gives access, even to what was cached for the session.
    expect((await fetchPage('/r/coast/secret-operators', { headers: { cookie } })).status).toBe(404)
    expect(await fetchPageText('/', { headers: { cookie } })).not.toContain('signed in as')
  })

  test('a revoked token is no longer valid on GitHub', async () => {
    const { CLIENT_ID: clientId = '', CLIENT_SECRET: clientSecret = '' } = fixture.environment
    const { url } = fixture.github
    const client = new GitHubOAuthClient({ clientId, clientSecret, apiUrl: url, webUrl: url })
    const [verifier, redirectUrl] = ['v'.repeat(43), `${fixture.url}/sign-in/back`]
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const agreed = await fetch(`${client.authorizeUrl({ state: 'x', challenge, redirectUrl })}&as=ann`, {
      method: 'POST',
      redirect: 'manual',
    })
    const code = new URL(agreed.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const { token = '' } = (await client.exchange({ code, verifier, redirectUrl })) ?? {}
    expect(await client.checkReadAccess(token, privateRepository)).toBe('yes')
    await client.revoke(token)
    expect(await client.checkReadAccess(token, privateRepository)).toBe('ended')
  })

  const wordOf = async (cookie: string) => {
    const page = await fetchPageText(publicRepositoryPath, { headers: { cookie } })
    return /name="word" value="(?<word>[^"]+)"/.exec(page)?.groups?.['word'] ?? ''
  }
  const resume = (cookie: string, word: string, address = fixture.url) =>
    fetchPage(
      `${publicRepositoryPath}/resume`,
      {
        method: 'POST',
        headers: { cookie, origin: fixture.url },
        body: new URLSearchParams({ kind: 'frozen', branch: 'release-4.20', word }),
      },
      address,
    )

  test('signs out of every tab and every instance: a copy of the cookie ends no freeze', async () => {
    const { cookie } = await signInViaGitHub('ann')
    const word = await wordOf(cookie)
    expect(word).not.toBe('')
    const other = await fixture.serve(fixture.environment)
    expect(await (await fetchPage('/', { headers: { cookie } }, other)).text()).toContain('signed in as')
    await fetchPage('/sign-out', { method: 'POST', headers: { cookie, origin: fixture.url } })
    fixture.resumed.length = 0
    const restarted = await fixture.serve(fixture.environment)
    for (const address of [fixture.url, other, restarted])
      expect((await resume(cookie, word, address)).status).toBe(403)
    expect(fixture.resumed).toEqual([])
  })

  test('acts only while GitHub accepts their token, regardless of the cache', async () => {
    const { cookie } = await signInViaGitHub('ann')
    const word = await wordOf(cookie)
    await fetchPage('/r/coast/secret-operators', { headers: { cookie } })
    fixture.resumed.length = 0
    const release = fixture.github.fail('GET /repos/{owner}/{repo}', { status: 502 }, 10)
    expect((await resume(cookie, word)).status).toBe(503)
    release()
    fixture.github.fail('GET /repos/{owner}/{repo}', { status: 404 }, 1)
    expect((await resume(cookie, word)).status).toBe(404)
    fixture.github.fail('GET /repos/{owner}/{repo}', { status: 401 }, 1)
    expect((await resume(cookie, word)).status).toBe(401)
    // That ended the session, too.
    expect((await resume(cookie, word)).status).toBe(403)
    expect(fixture.resumed).toEqual([])
  })
})

describe('in a browser', () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // Each page is loaded once for both, because loading it takes as long as checking it.
  const looks = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 360 },
  ] as const

  /** Runs axe, which the page has loaded. */
  const findFaults = (page: Page): Promise<(string | undefined)[][]> =>
    page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: {
          run: (
            options: object,
          ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
        }
      }
      // It describes each element that passes, too, unless only violations are requested.
      const { violations } = await axe.run({ resultTypes: ['violations'] })
      return violations.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary])
    })

  testIfBrowserInstalled(
    'every page is readable and accessible, light and wide, and dark and narrow',
    async () => {
      const page = await browser?.newPage()
      if (page === undefined) return
      const broken: string[] = []
      page.on('console', (message) => void (message.type() === 'error' && broken.push(message.text())))
      for (const path of [...allPagePaths, ...queryPaths, '/r/coast/nothing-here']) {
        await page.goto(`${fixture.url}${path}`)
        // The content security policy of the pages blocks scripts; `evaluate` bypasses it.
        await page.evaluate(axe)
        for (const { colorScheme, width } of looks) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          expect([path, colorScheme, await findFaults(page)]).toEqual([path, colorScheme, []])
          // Wide tables scroll; the page never does.
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        }
      }
      expect(broken.filter((text) => !text.includes('404'))).toEqual([])
      // A violation is found.
      await page.goto(`${fixture.url}${publicRepositoryPath}`)
      await page.evaluate(axe)
      await page.evaluate(
        `document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="x.png"><p class="calm"><input></p>')`,
      )
      expect((await findFaults(page)).map(([id]) => id)).toEqual(['image-alt', 'label'])
      await page.close()
    },
  )

  testIfBrowserInstalled('signing in goes by GitHub and back, and out again', async () => {
    const page = await browser?.newPage()
    if (page === undefined) return
    await page.goto(`${fixture.url}/r/coast/secret-operators`)
    await page.getByRole('link', { name: 'Sign in with GitHub' }).first().click()
    await page.getByRole('button', { name: 'Authorize as ann' }).click()
    expect(page.url()).toBe(`${fixture.url}/r/coast/secret-operators`)
    expect(await page.locator('main').innerText()).toContain(privateFindingText)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto(`${fixture.url}/r/coast/secret-operators`)
    expect(await page.locator('main').innerText()).not.toContain(privateFindingText)
    await page.close()
  })
})
