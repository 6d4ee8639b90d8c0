// From nothing to an App on an organization's repository, in a browser, with a GitHub that rejects like the real one.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { startMockGitHub, type MockGitHub } from '../../../sandbox/github/github.ts'
import { startBotFromEnvironment } from '../../../src/server/start.ts'
import { saveAppCredentials, readSavedAppCredentials } from '../../../src/jobs/saved-credentials.ts'
import { getStoreFolder } from '../../../src/jobs/settings.ts'
import { hasBrowser, launchBrowser } from '../../browser.ts'
import { reportSkippedTest } from '../../left-out.ts'
import { copyPreparedStore } from '../../adapters/store/prepared-store.ts'

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'set-up-'))
const outputLines: string[] = []
let mockGitHub: MockGitHub
let botServer: Awaited<ReturnType<typeof startBotFromEnvironment>>
let browser: Browser
let browserPage: Page
let setupUrl: URL

const dataDirectory = join(temporaryDirectory, 'data')
const testIfBrowserInstalled = hasBrowser ? test : test.skip
if (!hasBrowser) reportSkippedTest('chromium')

beforeAll(async () => {
  mockGitHub = await startMockGitHub({ directory: join(temporaryDirectory, 'github') })
  mockGitHub.createUser('ann')
  mockGitHub.createOrganization('harbour', ['ann'])
  await mockGitHub.createRepository('harbour', 'catalogs', {
    files: { 'catalogs/v4.20/.keep': '', '.github/catalog-bot.yml': 'install:\n  required: true\n' },
  })
  await mockGitHub.createRepository('harbour', 'other', { files: { 'README.md': 'nothing\n' } })
  await copyPreparedStore(getStoreFolder(dataDirectory))
  botServer = await startBotFromEnvironment({
    environment: {
      DATA_DIR: dataDirectory,
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
      GITHUB_API_URL: mockGitHub.url,
      GITHUB_URL: mockGitHub.url,
      GITHUB_THROTTLE: 'off',
      METRICS_PORT: '0',
    },
    print: (line) => outputLines.push(line),
  })
  const shown = outputLines.join('\n').match(/http:\S+/)?.[0]
  setupUrl = new URL(shown ?? 'http://nowhere')
  if (!hasBrowser) return
  browser = await launchBrowser()
  browserPage = await browser.newPage()
})

afterAll(async () => {
  await browser?.close()
  await botServer?.close()
  await mockGitHub?.stop()
  rmSync(temporaryDirectory, { recursive: true, force: true })
})

const readPageBodyText = () => browserPage.locator('body').innerText()

describe('the setup page', () => {
  test.each(['/setup', '/setup?word=wrong', '/setup/created?code=x&state=wrong', '/'])(
    'shows nothing at %s without the setup token',
    async (path) => {
      const reply = await fetch(new URL(path, setupUrl))
      expect(reply.status).toBe(404)
      expect(await reply.text()).not.toContain('manifest')
    },
  )
  test.each(['/livez', '/readyz', '/healthz'])(
    'passes the probe %s, because a load balancer sends no visitor to a pod that is not ready',
    async (path) => {
      expect((await fetch(new URL(path, setupUrl))).status).toBe(200)
    },
  )
  test('explains why a code from GitHub is not valid', async () => {
    const setupToken = setupUrl.searchParams.get('word') ?? ''
    for (const [code, words] of [
      ['0'.repeat(40), 'expired or was already used'],
      ['../../user', 'not a valid GitHub code'],
    ] as const) {
      const reply = await fetch(
        new URL(`/setup/created?state=${setupToken}&code=${encodeURIComponent(code)}`, setupUrl),
      )
      expect(reply.status).toBe(502)
      expect(await reply.text()).toContain(words)
    }
  })
  testIfBrowserInstalled('shows each input error at its field', async () => {
    await browserPage.goto(setupUrl.href)
    await browserPage.fill('#organization', 'no such name')
    await browserPage.fill('#address', 'https://bot.example.org/?x')
    await browserPage.click('button')
    expect(await browserPage.locator('[aria-invalid=true]').count()).toBe(2)
    expect(await readPageBodyText()).toContain('Remove the query (after ?)')
  })
  testIfBrowserInstalled('shows the error if GitHub rejects the App, and creates nothing', async () => {
    await browserPage.goto(setupUrl.href)
    await browserPage.fill('#organization', 'harbour')
    // The page accepts this because this GitHub isn't github.com and could be an enterprise server.
    await browserPage.fill('#address', 'http://localhost:3000')
    await browserPage.click('button')
    await browserPage.click('button')
    expect(await readPageBodyText()).toContain("isn't reachable over the public Internet")
  })
  testIfBrowserInstalled(
    'creates an App of the organization without a webhook, and lists its installations',
    async () => {
      const started = performance.now()
      await browserPage.goto(setupUrl.href)
      await browserPage.fill('#organization', 'harbour')
      await browserPage.fill('#name', 'Catalog bot of the harbour')
      await browserPage.click('button')
      expect(await readPageBodyText()).toContain('GitHub sends no webhooks')
      await browserPage.click('button')
      await browserPage.click('text=Create GitHub App >> nth=-1')
      await browserPage.getByText('Install the App on GitHub').click({ timeout: 60_000 })
      await browserPage.check('[value=catalogs]')
      await browserPage.click('button')
      await browserPage.goto(new URL(`/setup/installed${setupUrl.search}`, setupUrl).href)
      // The page may briefly show the state before the installation, and then refreshes automatically.
      await browserPage.getByRole('heading', { name: 'harbour/catalogs' }).waitFor({ timeout: 60_000 })
      const shown = await readPageBodyText()
      expect(shown).toContain('Branch main')
      expect(shown).not.toContain('harbour/other')
      const [download] = await Promise.all([
        browserPage.waitForEvent('download'),
        browserPage.click('text=catalog-bot B: main requires passing checks'),
      ])
      const ruleset = readFileSync((await download.path()) ?? '', 'utf8')
      // The configuration on the branch requires the install check, too.
      expect(ruleset).toContain('catalog-bot / install')
      expect(JSON.parse(ruleset)).toMatchObject({ enforcement: 'active', target: 'branch' })
      console.log(`from the form to the rulesets: ${Math.round(performance.now() - started)} ms`)
    },
  )
  testIfBrowserInstalled(
    'stores the credentials readable by this account only, with a generated webhook secret',
    () => {
      const file = join(dataDirectory, 'credentials.env')
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const text = readFileSync(file, 'utf8')
      expect(text).toMatch(/^WEBHOOK_SECRET=[\da-f]{64}$/m)
      const key = /^PRIVATE_KEY=(?<base64>[\w+/=]+)$/m.exec(text)?.groups?.base64 ?? ''
      expect(Buffer.from(key, 'base64').toString()).toMatch(/^-----BEGIN/)
      // A shell and `docker run --env-file` read the same values.
      const sourced = execFileSync('sh', ['-c', '. "$1" && printf %s "$PRIVATE_KEY"', 'sh', file], {
        encoding: 'utf8',
      })
      expect(sourced).toBe(key)
      expect(outputLines.join('\n')).not.toContain('BEGIN')
      expect(outputLines.join('\n')).toMatch(
        /Install the App on your catalog repository: http\S+\/installations\/new/,
      )
    },
  )
  testIfBrowserInstalled(
    'leaves the metrics to their own port, so that an ingress does not expose them',
    async () => {
      const metricsUrl =
        /Metrics are available at (?<url>\S+)\.$/m.exec(outputLines.join('\n'))?.groups?.url ?? ''
      expect(await (await fetch(metricsUrl)).text()).toContain('catalog_bot_memory_bytes')
      expect((await fetch(new URL('/readyz', metricsUrl))).status).toBe(404)
      expect((await fetch(new URL('/metrics', setupUrl))).status).toBe(404)
    },
  )
  testIfBrowserInstalled('is closed to visitors without the token', async () => {
    const reply = await fetch(new URL('/setup/installed?word=wrong', setupUrl))
    expect(reply.status).toBe(404)
    const again = await fetch(new URL(`/setup${setupUrl.search}`, setupUrl))
    expect(await again.text()).not.toContain('name="manifest"')
    expect((await fetch(new URL('/healthz', setupUrl))).status).toBe(200)
  })
})

describe('the credentials of a new App', () => {
  const app = {
    ...{ id: 7, slug: 'bot', url: 'https://github.com/apps/bot', pem: 'a key\nof two lines\n' },
    webhookSecret: 'a secret',
  }

  test('go to a new file that no other user could have open', () => {
    const folder = join(temporaryDirectory, 'kept')
    mkdirSync(folder)
    const file = join(folder, 'credentials.env')
    writeFileSync(file, 'old\n', { mode: 0o644 })
    const reader = openSync(file, 'r')
    saveAppCredentials(app, folder)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readSavedAppCredentials(folder)).toMatchObject({ APP_ID: '7', WEBHOOK_SECRET: 'a secret' })
    // A process that had the old file open reads the old content.
    expect(readFileSync(reader, 'utf8')).toBe('old\n')
    closeSync(reader)
    expect(readdirSync(folder)).toEqual(['credentials.env'])
  })

  test('are not written through a symbolic link, and setup rejects one at startup', async () => {
    const folder = join(temporaryDirectory, 'linked')
    mkdirSync(folder)
    const target = join(temporaryDirectory, 'target')
    writeFileSync(target, '')
    symlinkSync(target, join(folder, 'credentials.env'))
    expect(() => saveAppCredentials(app, folder)).toThrow('symbolic link')
    expect(readFileSync(target, 'utf8')).toBe('')
    expect(readdirSync(folder)).toEqual(['credentials.env'])
    const startup = startBotFromEnvironment({
      environment: { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' },
      print: () => undefined,
    })
    await expect(startup).rejects.toThrow('symbolic link')
  })
})

describe('without credentials, the start fails because of', () => {
  const listFile = join(temporaryDirectory, 'list.yaml')
  test.each([
    ['REGISTRY_PROXY', 'nowhere', 'REGISTRY_PROXY must be one of'],
    ['PUBLISH_TARGETS', listFile, 'PUBLISH_TARGETS is not valid YAML: line 1, column 4: '],
    ['CLUSTER_TARGETS', listFile, 'CLUSTER_TARGETS is not valid YAML: line 1, column 4: '],
    ['PUBLISH_TARGETS', '/nowhere/list.yaml', 'PUBLISH_TARGETS: cannot read /nowhere/list.yaml'],
    ['PUBLISH_TARGETS', '[{github: a/b}]', 'PUBLISH_TARGETS: cannot read its value, which must be a path'],
  ])('an invalid %s (%s)', async (variable, value, message) => {
    writeFileSync(listFile, 'a: @\n')
    const environment = { DATA_DIR: join(temporaryDirectory, 'none'), PORT: '0', LOG_LEVEL: 'silent' }
    const startup = startBotFromEnvironment({
      environment: { ...environment, [variable]: value },
      print: () => undefined,
    })
    await expect(startup.then((started) => started.close())).rejects.toThrow(message)
  })
})
