// A limit that one request was told holds for all of its installation, until GitHub's own time for it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pino from 'pino'
import { toForgeError } from '../../../src/github/forge-error.ts'
import { openGitHubApp, type GitHubApp } from '../../../src/github/github-app.ts'
import { furnish, name, privateKey, secret, type Furnished } from '../../sandbox/github/sample-world.ts'

let it: Furnished
let app: GitHubApp
let now = Date.now()
const clock = { now: () => now, sleep: () => Promise.resolve() }

beforeAll(async () => {
  it = await furnish({ clock })
})
afterAll(() => it.stop())
beforeEach(() => {
  now = Date.now()
  app = openGitHubApp({
    appId: it.app.id,
    privateKey,
    webhookSecret: secret,
    apiUrl: it.github.url,
    throttle: false,
    clock,
    log: pino({ level: 'silent' }),
  })
})

// The request for a token counts, too.
const sent = () => it.github.requests.length
const ask = async (installation = it.installation.id) =>
  (await app.octokit(installation)).rest.repos.get(name).then(
    () => undefined,
    (error: unknown) => toForgeError(error, 'read the repository'),
  )

describe.each(['primary', 'secondary'] as const)('a %s limit', (kind) => {
  test('is waited for by every job of the installation, as long as GitHub said, and no longer', async () => {
    it.github.limitRate(kind, 600)
    const before = sent()
    const first = await ask()
    expect(first).toMatchObject({ code: 'rate-limited' })
    expect(first?.retryAfter).toBeGreaterThanOrEqual(599)
    expect(first?.retryAfter).toBeLessThanOrEqual(602)
    for (let jobs = 0; jobs < 5; jobs += 1)
      expect(await ask()).toMatchObject({ code: 'rate-limited', retryAfter: first?.retryAfter })
    expect(sent() - before).toBe(1)
    now += 603_000
    expect(await ask()).toBeUndefined()
  })
})

test('an installation that GitHub does not let us into is left out, and the others are listed', async () => {
  it.github.createUser('closed-owner')
  await it.github.createRepository('closed-owner', 'catalogs')
  const closed = it.github.install(it.app, it.github.account('closed-owner'), [
    it.github.repository('closed-owner/catalogs'),
  ])
  const refuse = () =>
    it.github.fail(({ path }) => path === `/app/installations/${closed.id}/access_tokens`, {
      status: 403,
      body: { message: 'This installation has been suspended' },
    })
  refuse()
  const listed = await app.installedRepositories()
  expect(listed.map(({ installation }) => installation)).toEqual([it.installation.id])
  // Where nobody answers, that is no empty list: nothing would be swept, and all would look well.
  it.github.fail(({ path }) => path.endsWith('/access_tokens'), { status: 403 }, 4)
  await expect(
    openGitHubApp({
      appId: it.app.id,
      privateKey,
      webhookSecret: secret,
      apiUrl: it.github.url,
      throttle: false,
      clock,
      log: pino({ level: 'silent' }),
    }).installedRepositories(),
  ).rejects.toMatchObject({ name: 'ForgeError' })
})
