// The App on the sandbox's GitHub, and the context of a job for one of its repositories.
import pino from 'pino'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import type { MockGitHub } from '../../sandbox/github/github.ts'
import { openGitMirror } from '../../src/adapters/git/mirror.ts'
import { GitHubForge } from '../../src/adapters/github/forge.ts'
import { GitHubApp } from '../../src/adapters/github/github-app.ts'
import { GitHubMergeApi } from '../../src/adapters/github/merge-api.ts'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { ReadyEvaluations } from '../../src/evaluate/pull-evaluation.ts'
import type { AppServices } from '../../src/jobs/job-context.ts'
import { JobScheduler } from '../../src/jobs/job-scheduler.ts'
import { createMetrics } from '../../src/jobs/metrics.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Store } from '../../src/ports/store.ts'
import type { RepositoryName } from '../../src/pull-request/snapshot.ts'
import { createInMemoryStore, InMemoryStoreTables } from '../../simulate/ports/memory-store.ts'
import { privateKey, webhookSecret, type GitHubFixture } from '../sandbox/github/github-fixture.ts'

export const silentLog = pino({ level: 'silent' })

export const createTestGitHubApp = (
  { app, github }: Pick<GitHubFixture, 'app' | 'github'>,
  clock: Clock,
): GitHubApp =>
  new GitHubApp({
    appId: app.id,
    privateKey,
    webhookSecret,
    apiUrl: github.url,
    throttle: false,
    clock,
    log: silentLog,
  })

/** `directory` is for the mirror, which the test closes. */
export async function openRepositoryContext(
  github: MockGitHub,
  app: GitHubApp,
  installation: number,
  repository: RepositoryName,
  directory: string,
) {
  const mirror = await openGitMirror({
    directory,
    url: `${github.url}/${repository.owner}/${repository.name}.git`,
    repository,
    credential: async () => ({
      username: 'x-access-token',
      password: await app.gitToken(installation, repository),
    }),
  })
  const octokit = await app.octokit(installation)
  return {
    installation,
    repository: mirror,
    mirror: directory,
    forge: new GitHubForge(octokit, repository, app),
    merging: new GitHubMergeApi(octokit, repository),
  }
}

export const createTestStore = (now: () => number): Store =>
  createInMemoryStore({ tables: new InMemoryStoreTables(), now, turn: async (_, act) => act() })

const rejectUse = () => Promise.reject(new Error('the test does not expect this'))
const close = () => Promise.resolve()

/** Services that reject every request, except the given ones. */
export const createTestAppServices = <Ports extends Store>({
  store,
  clock,
  ...given
}: Pick<AppServices<Ports>, 'store' | 'clock'> & Partial<AppServices<Ports>>): AppServices<Ports> => ({
  settings: readSettings({}),
  registries: { forEvaluation: () => rejectUse, refreshImage: rejectUse, close },
  publishing: { order: rejectUse, close },
  clusterTests: { order: rejectUse, withServedCatalog: rejectUse, close },
  loader: createCatalogLoader({ read: async (bytes) => parseCatalogFile(bytes), close }, store),
  evaluationPool: { evaluate: rejectUse, isSmall: () => true, close },
  releases: { computeRelease: rejectUse, close },
  scheduler: new JobScheduler(clock),
  readyEvaluations: new ReadyEvaluations(clock),
  metrics: createMetrics(),
  log: silentLog,
  store,
  clock,
  ...given,
})
