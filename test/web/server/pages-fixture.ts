// The status pages over a store with sample data, and a GitHub to sign in with, for the tests of the pages, the
// screenshots in the docs, and the benchmark. No bot runs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startMockGitHub, type MockGitHub } from '../../../sandbox/github/github.ts'
import { toOAuthClientId } from '../../../sandbox/github/sign-in-pages.ts'
import type { UnfreezeHandler, UnfreezeRequest } from '../../../src/web/server/unfreeze.ts'
import { createPagesHandler } from '../../../src/web/server/pages-handler.ts'
import { readSettings, type BotSettings } from '../../../src/jobs/settings.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { openPreparedStore } from '../../adapters/store/prepared-store.ts'
import { realTimeClock as realClock } from '../../adapters/store/sample-records.ts'

export interface PagesFixture {
  readonly url: string
  readonly store: Store
  readonly github: MockGitHub
  /** Requests to unfreeze. */
  readonly resumed: UnfreezeRequest[]
  readonly log: string[]
  /** The settings behind `url`: with them `serve` starts another instance. */
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds since the epoch, as the pages see them; tests can advance it. */
  readonly time: { now: number }
  /** Serves the same store with other settings. */
  serve(environment: Readonly<Record<string, string>>): Promise<string>
  close(): Promise<void>
}

/** The time at which the pages are viewed. It is now, because merges are recorded with the database's time. */
export const startTimeMs = Date.now()

export async function startPagesFixture(): Promise<PagesFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'pages-'))
  const github = await startMockGitHub({ directory })
  const store = await openPreparedStore({ clock: realClock })
  const time = { now: startTimeMs }
  const clock: Clock = { ...realClock, now: () => time.now }
  const resumed: UnfreezeRequest[] = []
  const log: string[] = []
  const servers: (() => Promise<unknown>)[] = []
  const resume: UnfreezeHandler = async (resumeRequest) => {
    resumed.push(resumeRequest)
    return resumeRequest.by.login === 'ann'
      ? undefined
      : 'Only maintainers of this repository can unfreeze merging.'
  }

  async function listen(settings: (port: number) => BotSettings): Promise<string> {
    const pino_ = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) })
    const server = createServer((request, response) => {
      void (pages?.(request, response) ?? Promise.resolve(false)).then((isAnswered) => {
        if (!isAnswered) response.writeHead(404).end('not found\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const pages = createPagesHandler({
      settings: settings(port),
      store,
      clock,
      log: pino_,
      resume,
      liveIntervalMs: 25,
      requestQuota: async (installation) =>
        installation === 1 ? [{ resource: 'core', remaining: 4321, limit: 5000 }] : [],
    })
    servers.push(
      () =>
        new Promise((resolve) => {
          server.closeAllConnections()
          server.close(resolve)
        }),
    )
    return `http://127.0.0.1:${port}`
  }
  const base = { GITHUB_API_URL: github.url, GITHUB_URL: github.url }
  let environment: Record<string, string> = {}
  const url = await listen((port) => {
    const back = `http://127.0.0.1:${port}/sign-in/back`
    const app = github.createApp({
      slug: 'catalog-bot',
      webhookSecret: null,
      events: [],
      permissions: {},
      callbackUrls: [back],
    })
    environment = {
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      CLIENT_ID: toOAuthClientId(app),
      CLIENT_SECRET: app.clientSecret,
    }
    return readSettings({ ...base, ...environment })
  })
  return {
    url,
    environment,
    store,
    github,
    resumed,
    log,
    time,
    serve: (environment) => listen(() => readSettings({ ...base, ...environment })),
    async close() {
      for (const close of servers) await close()
      await store.close()
      await github.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Signs in through GitHub's page and returns the session cookie and the redirect target. */
export async function signInViaGitHub(
  { url }: PagesFixture,
  login: string,
  to = '/',
): Promise<{ cookie: string; location: string }> {
  const started = await fetch(`${url}/sign-in?to=${encodeURIComponent(to)}`, { redirect: 'manual' })
  const agreed = await fetch(`${started.headers.get('location') ?? ''}&as=${login}`, {
    method: 'POST',
    redirect: 'manual',
  })
  const back = new URL(agreed.headers.get('location') ?? '')
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  const done = await fetch(`${url}${back.pathname}${back.search}`, {
    redirect: 'manual',
    headers: { cookie },
  })
  const [session = ''] = done.headers.getSetCookie()
  return { cookie: session.split(';')[0] ?? '', location: done.headers.get('location') ?? '' }
}
