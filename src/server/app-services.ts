// Opens what job handlers need: the services that all jobs share, and job contexts with one mirror per repository, opened
// on first use, and GitHub as the acting account.
import { resolve } from 'node:path'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import { openGitMirror, type GitMirror } from '../adapters/git/mirror.ts'
import { createCommentCache, createRepositoryCache } from '../adapters/github/github-cache.ts'
import { GitHubForge } from '../adapters/github/forge.ts'
import type { GitHubApp } from '../adapters/github/github-app.ts'
import { GitHubMergeApi } from '../adapters/github/merge-api.ts'
import { createCatalogLoader } from '../catalogs/catalog-loader.ts'
import { createCatalogFileReaderPool } from '../catalogs/reader-pool.ts'
import { createRegistryLookupService } from '../catalogs/registries.ts'
import { createClusterTestClient } from '../cluster-test/process/cluster-test-client.ts'
import { createEvaluationPool } from '../evaluate/worker/evaluation-pool.ts'
import type { Store } from '../ports/store.ts'
import { noopTracing, traceMethodCalls, type Tracing } from '../ports/tracing.ts'
import type { WorkPriorityClass } from '../adapters/github/budget/request-limits.ts'
import type { AppServices, JobContext } from '../jobs/job-context.ts'
import { JobScheduler } from '../jobs/job-scheduler.ts'
import { ReadyEvaluations } from '../evaluate/pull-evaluation.ts'
import { createPublishClient } from '../publish/process/publish-client.ts'
import { createReleaseWorkerPool } from '../release/worker/release-pool.ts'

interface AppServicesOptions extends Pick<
  AppServices<Store>,
  'settings' | 'store' | 'metrics' | 'clock' | 'log'
> {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** As in `nice`. Default: that of this process. Evaluations have their own readers. */
  readonly readerNiceness?: number
  /** By default, empty: nothing is published. */
  readonly publishEnvironment?: Parameters<typeof createPublishClient>[0]
  /** By default, empty: no install test runs. */
  readonly clusterTestEnvironment?: Parameters<typeof createClusterTestClient>[0]
}

interface OpenedAppServices {
  readonly app: AppServices<Store>
  /** Closes what `app` consists of, except for the store, publishing, cluster tests, and the scheduler. */
  readonly close: () => Promise<void>
}

/** Rejects for unusable credential files, mirror files, or collector settings. Then nothing needs to be closed. */
export async function openAppServices({
  environment,
  readerNiceness,
  publishEnvironment = {},
  clusterTestEnvironment = {},
  ...given
}: AppServicesOptions): Promise<OpenedAppServices> {
  const { settings, store, clock, log } = given
  const tracing = await createTracing(environment, (error) =>
    log.warn({ err: error }, 'traces could not be exported'),
  )
  const registries = await createRegistryLookupService({
    clock,
    store,
    environment,
    insecure: settings.insecureRegistries,
  }).catch(async (error: unknown) => {
    await tracing.close()
    throw error
  })
  const pool = createCatalogFileReaderPool(undefined, undefined, readerNiceness)
  const evaluationPool = traceMethodCalls(
    createEvaluationPool(settings.budget, settings.concurrency),
    { evaluate: 'look.look' },
    tracing,
  )
  const releases = createReleaseWorkerPool(settings.budget)
  return {
    app: {
      ...given,
      registries,
      publishing: createPublishClient(publishEnvironment),
      clusterTests: createClusterTestClient(clusterTestEnvironment),
      loader: createCatalogLoader(pool, store),
      evaluationPool,
      releases,
      scheduler: new JobScheduler(clock),
      readyEvaluations: new ReadyEvaluations(clock),
      tracing,
    },
    close: async () => {
      const opened = [pool, evaluationPool, releases, registries, tracing]
      await Promise.all(opened.map((service) => service.close()))
    },
  }
}

/** The App with its credentials, or the holder of one of its tokens. */
type AppOrTokenGitHubClient = Pick<GitHubApp, 'appId' | 'login' | 'octokit' | 'gitToken'> &
  Partial<Pick<GitHubApp, 'permissionsOn'>>

export interface RepositoryContextFactory {
  /** Rejects with a ForgeError or GitError if the repository is unreachable. */
  readonly open: (
    job: { readonly installation: number; readonly repository: RepositoryName },
    /** `look` if a user is waiting for a page or a command. */
    work?: WorkPriorityClass,
    onSent?: () => void,
  ) => Promise<JobContext<Store>>
  /** Ends running git processes, and so the jobs that wait for them. */
  readonly close: () => Promise<void>
}

/** Traced calls: GitHub requests and slow git commands. Mirror reads are too many and too fast. */
const spanNameByForgeMethod = {
  readSnapshot: 'github.readSnapshot',
  openPulls: 'github.openPulls',
  branchRules: 'github.branchRules',
  readOwnReports: 'github.present',
  perform: 'github.perform',
  answer: 'github.answer',
  readOwnChecks: 'github.checksOn',
} as const
const spanNameByMergeMethod = {
  merge: 'github.merge',
  enqueue: 'github.enqueue',
  dequeue: 'github.dequeue',
  createSignedCommit: 'github.sign',
  moveStagingBranch: 'github.moveStaged',
} as const
const spanNameByGitMethod = {
  fetch: 'git.fetch',
  fetchTestMerge: 'git.fetchTestMerge',
  merge: 'git.merge',
  readIncomingCommits: 'git.carried',
  pushMerge: 'git.land',
  pushMergeBatch: 'git.landTogether',
  createStagingBranch: 'git.stage',
  deleteStagingBranch: 'git.unstage',
} as const

export function createRepositoryContextFactory(
  app: AppServices<Store>,
  github: AppOrTokenGitHubClient,
): RepositoryContextFactory {
  const { tracing = noopTracing } = app
  const mirrors = createGitMirrorSet(app, github)
  const acting = {
    ...github,
    commentCache: createCommentCache(app.clock),
    repositoryCache: createRepositoryCache(app.clock),
    pause: (milliseconds: number) => app.clock.sleep(milliseconds),
    maxComments: app.settings.budget.comments,
  }

  return {
    open: async (job, work, onSent) => {
      const octokit = await github.octokit(job.installation, work, onSent)
      return {
        app,
        installation: job.installation,
        forge: traceMethodCalls(
          new GitHubForge(octokit, job.repository, acting),
          spanNameByForgeMethod,
          tracing,
        ),
        merging: traceMethodCalls(
          new GitHubMergeApi(octokit, job.repository),
          spanNameByMergeMethod,
          tracing,
        ),
        repository: traceMethodCalls(
          await mirrors.open(job.installation, job.repository),
          spanNameByGitMethod,
          tracing,
        ),
        mirror: mirrors.folderOf(job.repository),
      }
    },
    close: mirrors.close,
  }
}

/** Each repository's mirror is opened once, and again after a failure. */
function createGitMirrorSet(app: AppServices<Store>, github: Pick<AppOrTokenGitHubClient, 'gitToken'>) {
  const mirrors = new Map<string, Promise<GitMirror>>()
  const mirrorFolderOf = ({ owner, name }: RepositoryName) =>
    resolve(app.settings.dataDirectory, 'mirrors', `${owner}.${name}.git`.toLowerCase())

  function openRepositoryMirror(installation: number, repository: RepositoryName): Promise<GitMirror> {
    const key = toRepositoryKey(repository)
    const known = mirrors.get(key)
    if (known !== undefined) return known
    const opened = openGitMirror({
      directory: mirrorFolderOf(repository),
      maxPaths: app.settings.budget.paths,
      url: `${app.settings.gitUrl}/${repository.owner}/${repository.name}.git`,
      repository,
      credential: async () => ({
        username: 'x-access-token',
        password: await github.gitToken(installation, repository),
      }),
    })
    mirrors.set(key, opened)
    opened.catch(() => mirrors.delete(key))
    return opened
  }

  return {
    folderOf: mirrorFolderOf,
    open: openRepositoryMirror,
    close: async () => {
      for (const mirror of mirrors.values()) await mirror.then((open) => open.close()).catch(() => undefined)
    },
  }
}

/** Rejects for invalid collector settings. */
async function createTracing(
  environment: Readonly<Record<string, string | undefined>>,
  problem: (error: unknown) => void,
): Promise<Tracing> {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: all,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_SDK_DISABLED: off,
  } = environment
  if (!(all || traces) || off?.toLowerCase() === 'true') return noopTracing
  return (await import('./tracing/otel-tracing.ts')).createOtelTracing(environment, problem)
}
