// A repository in the sandbox's GitHub that publishes its catalogs to an in-memory registry, with a simulated clock.
import { join } from 'node:path'
import { readSettings } from '../../src/jobs/settings.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { republishMergedPullReport } from '../../src/jobs/merged-report.ts'
import { publishCatalogs } from '../../src/publish/publish-catalogs.ts'
import { publishPreview } from '../../src/publish/preview.ts'
import { handlePublishRequest } from '../../src/publish/process/publish-handler.ts'
import type { PublishContext } from '../../src/publish/process/publish-context.ts'
import type { PublishClient } from '../../src/publish/process/publish-client.ts'
import { parsePushTargets } from '../../src/publish/process/push-targets.ts'
import { toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import type { Job, Store } from '../../src/ports/store.ts'
import type { MockCheckRun, MockDeployment, MockIssue, MockPull } from '../../sandbox/github/github-data.ts'
import { FakeCatalogPublisher } from '../adapters/image/fake-publisher.ts'
import type { GitHubFixture } from '../sandbox/github/github-fixture.ts'
import { realTimeClock as realClock } from '../adapters/store/sample-records.ts'
import { createTestAppServices, openRepositoryContext } from '../jobs/job-context.ts'
import { createValidatedMerge } from '../policy/verdict-inputs.ts'

export const catalogImageName = 'quay.io/coast/catalog'
export const baseImageReference = 'quay.io/opm/opm:latest'

export const createPackageYaml = (name: string, channel = 'stable') =>
  `---\nschema: olm.package\nname: ${name}\ndefaultChannel: ${channel}\n---\nschema: olm.channel\npackage: ${name}\nname: ${channel}\nentries:\n  - name: ${name}.v1.0.0\n---\nschema: olm.bundle\npackage: ${name}\nname: ${name}.v1.0.0\nimage: quay.io/x/${name}:1\nproperties:\n  - type: olm.package\n    value: {packageName: ${name}, version: 1.0.0}\n`

export const createPublishConfig = (more = '') =>
  `publish:\n  - catalog: catalogs/v4.18\n    repository: ${catalogImageName}\n    tags: [latest, 'v{version}']\n    base: ${baseImageReference}\n${more}`

export const repositoryFiles = {
  'catalogs/v4.18/alpha/catalog.yaml': createPackageYaml('alpha'),
  'catalogs/v4.19/alpha/catalog.yaml': createPackageYaml('alpha'),
  'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
  '.github/catalog-bot.yml': createPublishConfig(),
}

export interface PublishScenario {
  readonly full: string
  readonly registry: FakeCatalogPublisher
  readonly ctx: JobContext<Store>
  readonly store: Store
  /** Enqueued jobs with their delays. */
  readonly enqueued: { readonly job: Job; readonly seconds: number }[]
  /** Pushes to the default branch unless `branch` is given, and returns the commit. */
  push(files: Record<string, string | null>, branch?: string): Promise<string>
  /** Merges a pull request and records the merge in the store. */
  merge(
    files: Record<string, string>,
    /** Runs after the branch has moved, before the merge is recorded. */
    meanwhile?: () => Promise<void>,
  ): Promise<{ readonly pull: MockPull; readonly commit: string }>
  run(): Promise<void>
  /** Runs the enqueued jobs of merged pull requests, which write the first comment. `run` includes this. */
  reportPulls(): Promise<void>
  preview(pull: number): Promise<void>
  advanceTime(seconds: number): void
  check(commit: string, name?: string): MockCheckRun | undefined
  readonly deployments: () => readonly MockDeployment[]
  readonly issues: () => readonly MockIssue[]
  close(): Promise<void>
}

let createdRepositoryCount = 0

export async function createPublishScenario(
  it: GitHubFixture,
  app: GitHubApp,
  store: Store,
  directory: string,
  given: Readonly<Record<string, string>> = {},
): Promise<PublishScenario> {
  const name = `shipped-${++createdRepositoryCount}`
  const full = `catalogs/${name}`
  await it.github.createRepository('catalogs', name, { files: { ...repositoryFiles, ...given } })
  it.github.changeInstallation(it.installation, [full])
  const repository = { owner: 'catalogs', name }
  let now = Date.UTC(2026, 10, 20)
  const context = await openRepositoryContext(
    it.github,
    app,
    it.installation.id,
    repository,
    join(directory, name),
  )
  const { repository: mirror } = context
  const registry = new FakeCatalogPublisher()
  registry.bases.set(baseImageReference, `sha256:${'b'.repeat(64)}`)
  const publisherContext: PublishContext = {
    targets: parsePushTargets(`[{github: ${full}, push: [${catalogImageName}]}]`),
    registryFor: () =>
      Promise.resolve({
        publisher: registry,
        registry: registry.reader,
        digestOfBase: (text) => registry.digestOf(text),
        signingKey: () => Promise.resolve(undefined),
      }),
    mirrorAt: () => Promise.resolve(mirror),
    secretOf: () => Promise.resolve('secret'),
    transport: {} as PublishContext['transport'],
    closedHosts: [],
    version: '1.2.3',
    now: () => now,
  }
  const publishing: PublishClient = {
    order: (order, onIntent) =>
      handlePublishRequest(order, publisherContext, async ({ digest }) => (await onIntent?.(digest)) ?? 'go'),
    close: () => Promise.resolve(),
  }
  const enqueuedJobs: { job: Job; seconds: number }[] = []
  let done = 0
  const ctx: JobContext<Store> = {
    ...context,
    app: createTestAppServices({
      settings: readSettings({ PUBLISH_RETRY_SECONDS: '10' }),
      store: { ...store, enqueue: async (job: Job, seconds = 0) => void enqueuedJobs.push({ job, seconds }) },
      publishing,
      clock: { ...realClock, now: () => now },
    }),
  }
  const repo = it.github.repository(full)
  const push = (changes: Record<string, string | null>, branch?: string) =>
    it.github.pushToBase(full, changes, branch === undefined ? {} : { branch })
  const about = { installation: it.installation.id, repository }
  const reportPulls = async () => {
    for (; done < enqueuedJobs.length; done += 1) {
      const job = enqueuedJobs[done]?.job
      if (job?.kind === 'pull') await republishMergedPullReport(job.pull, ctx)
    }
  }
  return {
    full,
    registry,
    ctx,
    store,
    enqueued: enqueuedJobs,
    push,
    async merge(changes, meanwhile) {
      const pull = await it.github.openPull({ repository: full, author: 'alice', title: 'More', changes })
      const before = repo.knownRefs.get('refs/heads/main') ?? ''
      const commit = await push(changes)
      await meanwhile?.()
      const pendingMerge = createValidatedMerge({
        repository,
        pull: toPullNumber(pull.number),
        base: toCommitSha(before),
        head: toCommitSha(pull.headSha),
        commit: toCommitSha(commit),
      })
      const lease = await store.acquireLease(`land ${full}`, 60)
      if (lease === undefined) throw new Error('no lease')
      const intent = await store.startMerge(lease, pendingMerge)
      if (intent === undefined) throw new Error('no intent')
      await store.finishMerge(intent, 'landed')
      await store.releaseLease(lease)
      const { pull: number, head, base, baseRef, config } = pendingMerge
      const verdict = { kind: 'merge', reasons: [], head, base, baseRef, config, outcomes: [], waiting: [] }
      await store.recordVerdict({
        repository,
        pull: number,
        head,
        base,
        config,
        verdict: 'merge',
        report: { verdict, changeLines: [], commandLines: [] },
        decidedAt: now,
      })
      return { pull, commit }
    },
    async run() {
      await publishCatalogs({ kind: 'publish', ...about }, ctx)
      await reportPulls()
    },
    reportPulls,
    preview: (pull) => publishPreview({ kind: 'preview', ...about, pull: toPullNumber(pull) }, ctx),
    advanceTime: (seconds) => void (now += seconds * 1000),
    check: (headSha, which = 'publish') =>
      it.github
        .checkRuns({ repo, headSha })
        .filter((run) => run.name === `catalog-bot / ${which}`)
        .at(-1),
    deployments: () => repo.deployments,
    issues: () => [...repo.issues.values()],
    close: () => mirror.close(),
  }
}
