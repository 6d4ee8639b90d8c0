// Wires the App together and runs it. `close()` releases everything.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createNodeMiddleware } from 'probot'
import { startProcessLauncher } from '../adapters/git/launcher.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { GitHubApp } from '../adapters/github/github-app.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import { type Database, StoreError } from '../adapters/store/database.ts'
import { openStore } from '../adapters/store/store.ts'
import { startControlSocketServer } from './control-socket.ts'
import { createWebhookDeliveryHandler } from './deliveries.ts'
import { saveCompileCache } from '../adapters/workers/answer-orders.ts'
import { createHealthMonitor, type HealthReport } from './health.ts'
import { doesPromiseSettleWithin, systemClock } from '../adapters/system-clock.ts'
import { createMetrics } from '../jobs/metrics.ts'
import { createPagesHandler } from '../web/server/pages-handler.ts'
import { createUnfreezeHandler } from '../web/server/unfreeze.ts'
import { extractPublishEnvironment } from '../publish/process/publish-client.ts'
import { extractClusterTestEnvVariables } from '../cluster-test/process/cluster-test-client.ts'
import { loadJobRequestQuota, runJob } from './jobs/run-job.ts'
import { findPullsWaitingForCommitStatus } from '../merge/rejected-pulls.ts'
import { parseRequestTarget } from '../report/urls.ts'
import { SettingsError, getStoreFolder, type AppCredentials, type BotSettings } from '../jobs/settings.ts'
import { startSweeper } from './jobs/sweep.ts'
import { readProcessTreeMemory, createStoreMetrics } from './store-metrics.ts'
import type { AppServices } from '../jobs/job-context.ts'
import { createRepositoryContextFactory, openAppServices } from './app-services.ts'

const backgroundReaderNiceness = 10

export interface RunningBotServer {
  /** Such as `http://127.0.0.1:3000`. */
  readonly address: string
  /** Absent if `address` serves the metrics, too. */
  readonly metricsUrl?: string
  close(): Promise<void>
}

/** Resolves to false for addresses it does not serve. */
type StatusPageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

export interface ServeOptions {
  /** The embedded database, if the caller began to open it. catalog-bot closes it, also if the start fails. */
  readonly opening?: Promise<Database>
  /** An extra page that uses the App's GitHub access. */
  readonly page?: (github: GitHubApp) => StatusPageHandler
}

/**
 * Starts the App. Rejects if the port is taken, the store cannot be opened or git is missing, and with a SettingsError
 * if GitHub rejects the credentials. It starts even if GitHub does not answer, because deliveries are stored.
 */
export async function startBotServer(
  settings: BotSettings,
  credentials: AppCredentials,
  log: Logger,
  { page, opening }: ServeOptions = {},
): Promise<RunningBotServer> {
  const clock = systemClock
  const metrics = createMetrics()
  const github = createMeteredGitHubApp(settings, credentials, { metrics, clock, log })
  try {
    await verifyAppCredentials(github, log)
  } catch (error) {
    await (await opening?.catch(() => undefined))?.close()
    throw error
  }
  const services = await startAppServices(settings, { metrics, clock, log }, opening)
  const { app } = services
  const { store } = app
  const repositoryContexts = createRepositoryContextFactory(app, github)
  const health = createHealthMonitor(store, clock, () => github.held())
  const renderMetrics = createMetricsRenderer(github, app)
  const requests = new Set<Promise<unknown>>()
  const { server, metricsServer } = await startHttpServers(settings, renderMetrics, log, () =>
    createHttpRequestHandler(github, {
      deliveries: createWebhookDeliveryHandler({
        store,
        appId: credentials.appId,
        findWaitingPulls: (report) => findPullsWaitingForCommitStatus(report, store),
        secrets: [credentials.webhookSecret, ...toArrayIfDefined(credentials.previousWebhookSecret)],
        onAccepted: (outcome, event, milliseconds) =>
          metrics.deliveries.observe({ outcome, event }, milliseconds / 1000),
      }),
      metrics: settings.metricsPort === undefined ? renderMetrics : undefined,
      health: () => health.report(),
      pages: [
        ...(page === undefined ? [] : [page(github)]),
        ...toArrayIfDefined(createStatusPagesHandler(app, repositoryContexts)),
      ],
      requests,
      log,
    }),
  )
  const worker = await startJobWorker(app, github, repositoryContexts)
  const sweeper = startSweeper({
    app,
    installed: async () => {
      try {
        const repositories = await github.installedRepositories()
        metrics.lastSweep.setToCurrentTime()
        health.recordGitHubResult()
        return repositories
      } catch (error) {
        health.recordGitHubResult(error)
        throw error
      }
    },
  })
  // With a shared database, the command line connects directly.
  const control =
    settings.databaseUrl === undefined
      ? await startControlSocketServer(settings.dataDirectory, { store, log })
      : undefined
  const formatAddress = (listening: Server) =>
    `http://${settings.host === '0.0.0.0' ? '127.0.0.1' : settings.host}:${(listening.address() as AddressInfo).port}`
  const address = formatAddress(server)
  log.info({ address }, 'listening')
  // After the caller reports the address: the first save takes half a second.
  setImmediate(saveCompileCache)
  return {
    address,
    ...(metricsServer !== undefined && { metricsUrl: `${formatAddress(metricsServer)}/metrics` }),
    async close() {
      await control?.close()
      await shutDownServer({
        services,
        worker,
        sweeper,
        requests,
        servers: [server, ...toArrayIfDefined(metricsServer)],
        repositoryContexts,
      })
    },
  }
}

interface ServerInstrumentation {
  readonly metrics: ReturnType<typeof createMetrics>
  readonly clock: Clock
  readonly log: Logger
}

function createMeteredGitHubApp(
  settings: BotSettings,
  credentials: AppCredentials,
  { metrics, clock, log }: ServerInstrumentation,
): GitHubApp {
  return new GitHubApp({
    onRemaining: ({ installation, resource, remaining, limit }) => {
      metrics.remaining.set({ installation, resource }, remaining)
      metrics.limit.set({ installation, resource }, limit)
    },
    ...credentials,
    apiUrl: settings.apiUrl,
    throttle: settings.throttle,
    writePause: settings.writePause,
    reserves: settings.reserves,
    onAnswer: (outcome, work) => metrics.githubRequests.inc({ class: work, outcome }),
    clock,
    log,
  })
}

interface StartedAppServices {
  readonly app: AppServices<Store>
  /** Closes what `app` consists of, except for publishing, cluster tests, and the scheduler, which stop earlier. */
  close(): Promise<void>
  closeLauncher(): void
}

async function startAppServices(
  settings: BotSettings,
  { metrics, clock, log }: ServerInstrumentation,
  opening: Promise<Database> | undefined,
): Promise<StartedAppServices> {
  // Before any child process starts, so that none inherits the credentials.
  const publishEnvironment = extractPublishEnvironment(process.env)
  const clusterTestEnvironment = extractClusterTestEnvVariables(process.env)
  const store = await openStoreWithLogging(settings, { clock, log }, opening)
  const closeLauncher = startProcessLauncher()
  const services = await openAppServices({
    ...{ settings, store, metrics, clock, log, publishEnvironment, clusterTestEnvironment },
    environment: process.env,
    readerNiceness: backgroundReaderNiceness,
  })
  return {
    app: services.app,
    closeLauncher,
    async close() {
      await services.close()
      await store.close()
    },
  }
}

/** Opening a remote or large database can take time, so the log shows what startup waits for. */
async function openStoreWithLogging(
  settings: BotSettings,
  { clock, log }: Pick<ServerInstrumentation, 'clock' | 'log'>,
  opening: Promise<Database> | undefined,
): Promise<Store> {
  const started = performance.now()
  log.info({ database: settings.databaseUrl === undefined ? 'embedded' : 'server' }, 'opening the store')
  const store = await openStore({
    ...(settings.databaseUrl !== undefined && { databaseUrl: settings.databaseUrl }),
    ...(opening !== undefined && { opening }),
    dataDirectory: getStoreFolder(settings.dataDirectory),
    clock,
    silence: Math.min(settings.leaseSeconds, 15),
    problem: (error, job) => {
      // Failed jobs log their own errors.
      if (!job || error instanceof StoreError) log.error({ err: error, job }, 'the store failed')
    },
  })
  log.info({ milliseconds: Math.round(performance.now() - started) }, 'the store is open')
  return store
}

function createMetricsRenderer(
  github: GitHubApp,
  { metrics, store, clock }: AppServices<Store>,
): () => Promise<string> {
  const readStoreMetrics = createStoreMetrics(metrics.registry, store, clock)
  return async () => {
    for (const [work, requests] of Object.entries(github.waiting()))
      metrics.githubWaiting.set({ class: work }, requests)
    const memory = await readProcessTreeMemory()
    if (memory !== undefined) metrics.memory.set(memory)
    await readStoreMetrics()
    return metrics.registry.metrics()
  }
}

interface HttpServers {
  readonly server: Server
  /** Absent if `server` serves the metrics, too. */
  readonly metricsServer: Server | undefined
}

/** Rejects if a port is taken. */
async function startHttpServers(
  { port, metricsPort, host }: BotSettings,
  renderMetrics: () => Promise<string>,
  log: Logger,
  createHandler: () => ReturnType<typeof createHttpRequestHandler>,
): Promise<HttpServers> {
  const server = createServer(await createHandler())
  await listenOnPort(server, port, host)
  if (metricsPort === undefined) return { server, metricsServer: undefined }
  const metricsServer = createMetricsServer(renderMetrics, log)
  await listenOnPort(metricsServer, metricsPort, host)
  return { server, metricsServer }
}

type RepositoryContextFactory = ReturnType<typeof createRepositoryContextFactory>

function createStatusPagesHandler(
  { settings, store, clock, log, metrics }: AppServices<Store>,
  { open }: RepositoryContextFactory,
): StatusPageHandler | undefined {
  return createPagesHandler({
    settings,
    store,
    clock,
    log,
    requestQuota: (installation) => readRequestQuota(metrics, installation),
    resume: createUnfreezeHandler({
      store,
      open,
      onResumed: ({ listed: { repository }, kind, branch, by: { login } }) =>
        log.info({ repository, branch, kind, login }, 'a maintainer unfroze merging on a status page'),
    }),
  })
}

async function readRequestQuota({ remaining, limit }: AppServices<Store>['metrics'], installation: number) {
  const [left, limits] = await Promise.all([remaining.get(), limit.get()])
  return left.values
    .filter(({ labels }) => labels.installation === installation)
    .map(({ labels: { resource }, value }) => ({
      resource: String(resource),
      remaining: value,
      limit:
        limits.values.find(
          ({ labels }) => labels.installation === installation && labels.resource === resource,
        )?.value ?? value,
    }))
}

function startJobWorker(
  app: AppServices<Store>,
  github: GitHubApp,
  { open }: RepositoryContextFactory,
): ReturnType<Store['work']> {
  const { settings, store, scheduler, metrics, clock } = app
  return store.work(
    (job) =>
      runJob(job, {
        app,
        openJobContext: open,
        loadAllowance: (one) =>
          loadJobRequestQuota(one, store, { now: () => clock.now(), sweepSeconds: settings.sweepSeconds }),
        isInstalled: ({ repository }) => github.isInstalledOn(repository),
        onDone: (done, outcome, milliseconds) =>
          metrics.jobs.observe({ kind: done.kind, outcome }, milliseconds / 1000),
      }),
    settings.concurrency,
    scheduler,
  )
}

interface RunningServerResources {
  readonly services: StartedAppServices
  readonly worker: Awaited<ReturnType<Store['work']>>
  readonly sweeper: ReturnType<typeof startSweeper>
  /** In progress. They use the store, also after their connections are closed. */
  readonly requests: ReadonlySet<Promise<unknown>>
  readonly servers: readonly Server[]
  readonly repositoryContexts: RepositoryContextFactory
}

/** Ends within the administrator's `stopSeconds`. */
async function shutDownServer(resources: RunningServerResources): Promise<void> {
  const { services, worker, sweeper, requests, servers, repositoryContexts } = resources
  const { settings, scheduler, publishing, clusterTests, clock, log } = services.app
  scheduler.close()
  // The next process resumes an interrupted push; a short one may finish.
  const stopped = Promise.all([worker.stop(), sweeper.stop()])
  const stopsWithin = (milliseconds: number) => doesPromiseSettleWithin(stopped, milliseconds, clock)
  const all = settings.stopSeconds * 1000
  // First for images in progress, last for jobs after git was asked to end.
  const images = Math.min(5_000, all / 2)
  const last = Math.min(3_000, all / 4)
  if (!(await stopsWithin(images))) log.info('waiting for jobs to finish')
  // The next process restarts the install test and cleans up after this one.
  await Promise.all([publishing.close(), clusterTests.close()])
  await stopsWithin(all - images - last)
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  // Ends running git processes, and so the jobs that wait for them.
  await repositoryContexts.close()
  services.closeLauncher()
  if (await doesPromiseSettleWithin(Promise.all([stopped, ...requests]), last, clock)) await services.close()
  else log.warn('some jobs did not finish in time; catalog-bot continues them after the next start')
}

/** Rejects if the port is taken. */
async function listenOnPort(server: Server, port: number, host: string): Promise<void> {
  server.requestTimeout = 30_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

function createMetricsServer(renderMetrics: () => Promise<string>, log: Logger): Server {
  return createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics')
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n')
    renderMetrics().then(
      (text) => response.writeHead(200, { 'content-type': metricsContentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'the metrics could not be read')
        response.writeHead(500).end()
      },
    )
  })
}

const toArrayIfDefined = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value])

async function verifyAppCredentials(github: GitHubApp, log: Logger): Promise<void> {
  try {
    await github.login()
  } catch (error) {
    if (error instanceof ForgeError && (error.code === 'unauthorized' || error.code === 'not-found'))
      throw new SettingsError(
        "GitHub rejected the App's credentials. Check that APP_ID and PRIVATE_KEY belong to the same App and that this machine's clock is correct",
      )
    log.warn({ err: error }, 'the App could not be verified with GitHub; starting anyway')
  }
}

interface HttpRequestHandlerOptions {
  readonly deliveries: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>
  /** Absent if another port serves the metrics. */
  readonly metrics: (() => Promise<string>) | undefined
  readonly health: () => Promise<HealthReport>
  readonly pages: readonly StatusPageHandler[]
  /** Receives each request until its handler ends. */
  readonly requests: Set<Promise<unknown>>
  readonly log: Logger
}

/**
 * Mounts Probot's middleware behind catalog-bot's, which stores deliveries before it responds. Deliveries never reach
 * Probot's handlers, which would process them in memory.
 */
async function createHttpRequestHandler(
  github: GitHubApp,
  { deliveries, metrics, health, pages, requests, log }: HttpRequestHandlerOptions,
) {
  const middleware = await createNodeMiddleware(
    (_probot, { addHandler }) => {
      addHandler(deliveries)
      for (const page of pages) addHandler(page)
      addHandler(async (request, response) => {
        if (request.method !== 'GET' && request.method !== 'HEAD') return false
        const respond = (text: string, type = 'text/plain; charset=utf-8', status = 200) => {
          response.writeHead(status, { 'content-type': type }).end(text)
          return true
        }
        switch (request.url?.split('?')[0] ?? '') {
          case '/livez':
            return respond('ok\n')
          case '/healthz':
          case '/readyz': {
            const { isReady, problems } = await health()
            const healthText = problems.length === 0 ? 'ok' : problems.join('\n')
            return respond(`${healthText}\n`, undefined, isReady ? 200 : 503)
          }
          case '/metrics':
            return metrics !== undefined && respond(await metrics(), metricsContentType)
          case '/':
            return respond('catalog-bot is running. Send webhook deliveries to /api/github/webhooks.\n')
          default:
            return false
        }
      })
    },
    { probot: github.probot },
  )
  return (request: IncomingMessage, response: ServerResponse) => {
    if (parseRequestTarget(request.url) === undefined)
      return void response.writeHead(400).end('invalid URL\n')
    const handled = Promise.resolve(
      middleware(request, response, () => {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n')
      }),
    ).catch((error: unknown) => {
      log.error({ err: error }, 'a request failed')
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
    requests.add(handled)
    void handled.finally(() => requests.delete(handled))
  }
}
