// The status pages over a store with something to show, and a GitHub to sign in with: what the pages' tests, the pictures in
// the docs and the bench look at. No bot runs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startGitHub, type GitHub } from '../../../sandbox/github/github.ts'
import { clientIdOf } from '../../../sandbox/github/sign-in-pages.ts'
import type { Resume, ResumeWish } from '../../../src/app/pages/resume.ts'
import { openPages } from '../../../src/app/pages/open-pages.ts'
import { readSettings, type Settings } from '../../../src/app/settings.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { openMadeStore } from '../../store/made-store.ts'
import { clock as realClock } from '../../store/sample-records.ts'

export interface PagesWorld {
  readonly address: string
  readonly store: Store
  readonly github: GitHub
  /** What was asked to be resumed. */
  readonly resumed: ResumeWish[]
  readonly log: string[]
  /** The settings behind `address`: with them `serve` starts another instance. */
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds since the epoch, as the pages see them; can be moved on. */
  readonly time: { now: number }
  /** The same store behind other settings. */
  serve(environment: Readonly<Record<string, string>>): Promise<string>
  close(): Promise<void>
}

/** When all of it is looked at. Landings are on record with the database's own time: it is now. */
export const noon = Date.now()

export async function openPagesWorld(): Promise<PagesWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'pages-'))
  const github = await startGitHub({ directory })
  const store = await openMadeStore({ clock: realClock })
  const time = { now: noon }
  const clock: Clock = { ...realClock, now: () => time.now }
  const resumed: ResumeWish[] = []
  const log: string[] = []
  const servers: (() => Promise<unknown>)[] = []
  const resume: Resume = async (wish) => {
    resumed.push(wish)
    return wish.by.login === 'ann' ? undefined : 'Only maintainers of this repository can resume merging.'
  }

  async function listen(settings: (port: number) => Settings): Promise<string> {
    const pino_ = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) })
    const server = createServer((request, response) => {
      void (pages?.(request, response) ?? Promise.resolve(false)).then((isAnswered) => {
        if (!isAnswered) response.writeHead(404).end('not found\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const pages = openPages({ settings: settings(port), store, clock, log: pino_, resume })
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
  const address = await listen((port) => {
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
      CLIENT_ID: clientIdOf(app),
      CLIENT_SECRET: app.clientSecret,
    }
    return readSettings({ ...base, ...environment })
  })
  return {
    address,
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
