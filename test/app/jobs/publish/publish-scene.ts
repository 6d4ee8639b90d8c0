// A repository in the sandbox's GitHub whose catalogs are published by hand, to a registry in memory: what the tests of
// the jobs look at. Time is the test's own.
import { nobodyReleases } from '../release/nobody-releases.ts'
import { join } from 'node:path'
import pino from 'pino'
import { openMetrics } from '../../../../src/app/metrics.ts'
import { readSettings } from '../../../../src/app/settings.ts'
import type { JobContext } from '../../../../src/app/jobs/job-context.ts'
import { reportMerged } from '../../../../src/app/jobs/report-merged.ts'
import { publishCatalogs } from '../../../../src/app/jobs/publish/publish-catalogs.ts'
import { openTurns } from '../../../../src/app/jobs/turns.ts'
import { publishPreview } from '../../../../src/app/jobs/publish/publish-preview.ts'
import { doPublishOrder } from '../../../../src/app/publishing/do-publish-order.ts'
import type { PublishRoom } from '../../../../src/app/publishing/publish-room.ts'
import type { Publishing } from '../../../../src/app/publishing/open-publishing.ts'
import { parsePushTargets } from '../../../../src/app/publishing/push-targets.ts'
import { nobodyTries } from '../../trials/nobody-tries.ts'
import { readFile } from '../../../../src/catalog/load/read-file.ts'
import { commitSha, pullNumber, treeSha } from '../../../../src/change/ids.ts'
import { catalogLoader } from '../../../../src/examine/catalogs/catalog-loader.ts'
import { openMirror } from '../../../../src/git/mirror.ts'
import { openForge } from '../../../../src/github/forge.ts'
import type { GitHubApp } from '../../../../src/github/github-app.ts'
import { openMerging } from '../../../../src/github/merge-calls.ts'
import type { Job, Store } from '../../../../src/ports/store.ts'
import type { CheckRun, Deployment, Issue, Pull } from '../../../../sandbox/github/world.ts'
import { FakeRegistry } from '../../../image/fake-publisher.ts'
import type { Furnished } from '../../../sandbox/github/sample-world.ts'
import { clock as realClock } from '../../../store/sample-records.ts'

export const image = 'quay.io/coast/catalog'
export const base = 'quay.io/opm/opm:latest'

export const entry = (name: string, channel = 'stable') =>
  `---\nschema: olm.package\nname: ${name}\ndefaultChannel: ${channel}\n---\nschema: olm.channel\npackage: ${name}\nname: ${channel}\nentries:\n  - name: ${name}.v1.0.0\n---\nschema: olm.bundle\npackage: ${name}\nname: ${name}.v1.0.0\nimage: quay.io/x/${name}:1\nproperties:\n  - type: olm.package\n    value: {packageName: ${name}, version: 1.0.0}\n`

export const config = (more = '') =>
  `publish:\n  - catalog: catalogs/v4.18\n    repository: ${image}\n    tags: [latest, 'v{version}']\n    base: ${base}\n${more}`

export const files = {
  'catalogs/v4.18/alpha/catalog.yaml': entry('alpha'),
  'catalogs/v4.19/alpha/catalog.yaml': entry('alpha'),
  'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
  '.github/catalog-bot.yml': config(),
}

export interface PublishScene {
  readonly full: string
  readonly registry: FakeRegistry
  readonly place: JobContext<Store>
  readonly store: Store
  /** Jobs that were asked for, with their delays. */
  readonly asked: { readonly job: Job; readonly seconds: number }[]
  /** Pushes to the default branch; answers with the commit. */
  push(files: Record<string, string | null>, branch?: string): Promise<string>
  /** Merges a pull request, as the store will have it: opened, landed and on record. */
  land(
    files: Record<string, string>,
    /** Happens when the branch has moved, and nothing of it is on record yet. */
    meanwhile?: () => Promise<void>,
  ): Promise<{ readonly pull: Pull; readonly commit: string }>
  run(): Promise<void>
  /** What jobs of merged pull requests do that a publication asked for: they write the first comment. `run` has it in it. */
  tellPulls(): Promise<void>
  preview(pull: number): Promise<void>
  pass(seconds: number): void
  check(commit: string, name?: string): CheckRun | undefined
  readonly deployments: () => readonly Deployment[]
  readonly issues: () => readonly Issue[]
  close(): Promise<void>
}

let repositories = 0

export async function openPublishScene(
  it: Furnished,
  app: GitHubApp,
  store: Store,
  directory: string,
  given: Readonly<Record<string, string>> = {},
): Promise<PublishScene> {
  const name = `shipped-${++repositories}`
  const full = `catalogs/${name}`
  await it.github.createRepository('catalogs', name, { files: { ...files, ...given } })
  it.github.changeInstallation(it.installation, [full])
  const repository = { owner: 'catalogs', name }
  let now = Date.UTC(2026, 10, 20)
  const folder = join(directory, name)
  const mirror = await openMirror({
    directory: folder,
    url: `${it.github.url}/${full}.git`,
    repository,
    credential: async () => ({
      username: 'x-access-token',
      password: await app.gitToken(it.installation.id, repository),
    }),
  })
  const registry = new FakeRegistry()
  registry.bases.set(base, `sha256:${'b'.repeat(64)}`)
  const room: PublishRoom = {
    targets: parsePushTargets(`[{github: ${full}, push: [${image}]}]`),
    registryFor: () =>
      Promise.resolve({
        publisher: registry,
        registry: registry.reader,
        digestOfBase: (text) => registry.digestOf(text),
        signingKey: () => Promise.resolve(undefined),
      }),
    mirrorAt: () => Promise.resolve(mirror),
    secretOf: () => Promise.resolve('secret'),
    transport: {} as PublishRoom['transport'],
    closedHosts: [],
    version: '1.2.3',
    now: () => now,
  }
  const publishing: Publishing = {
    order: (order, onIntent) =>
      doPublishOrder(order, room, async ({ digest }) => (await onIntent?.(digest)) ?? 'go'),
    close: () => Promise.resolve(),
  }
  const asked: { job: Job; seconds: number }[] = []
  let done = 0
  const loaded = { read: async (bytes: Uint8Array) => readFile(bytes), close: async () => undefined }
  const octokit = await app.octokit(it.installation.id)
  const place: JobContext<Store> = {
    installation: it.installation.id,
    repository: mirror,
    mirror: folder,
    forge: openForge(octokit, repository, app),
    merging: openMerging(octokit, repository),
    app: {
      settings: readSettings({ PUBLISH_RETRY_SECONDS: '10' }),
      store: { ...store, enqueue: async (job: Job, seconds = 0) => void asked.push({ job, seconds }) },
      registries: {
        forOneLook: () => () => Promise.reject(new Error('nobody asks for images here')),
        lookAgain: () => Promise.reject(new Error('nobody asks for images here')),
        close: async () => undefined,
      },
      publishing,
      trials: nobodyTries,
      loader: catalogLoader(loaded, store),
      looks: {
        look: () => Promise.reject(new Error('nobody looks here')),
        isSmall: () => true,
        close: () => Promise.resolve(),
      },
      releases: nobodyReleases,
      turns: openTurns(realClock),
      metrics: openMetrics(),
      clock: { ...realClock, now: () => now },
      log: pino({ level: 'silent' }),
    },
  }
  const repo = it.github.repository(full)
  const push = (changes: Record<string, string | null>, branch?: string) =>
    it.github.pushToBase(full, changes, branch === undefined ? {} : { branch })
  const about = { installation: it.installation.id, repository }
  const tellPulls = async () => {
    for (; done < asked.length; done += 1) {
      const job = asked[done]?.job
      if (job?.kind === 'pull') await reportMerged(job.pull, place)
    }
  }
  return {
    full,
    registry,
    place,
    store,
    asked,
    push,
    async land(changes, meanwhile) {
      const pull = await it.github.openPull({ repository: full, author: 'alice', title: 'More', changes })
      const before = repo.known.get('refs/heads/main') ?? ''
      const commit = await push(changes)
      await meanwhile?.()
      const landing = {
        repository,
        pull: pullNumber(pull.number),
        baseRef: 'main',
        base: commitSha(before),
        head: commitSha(pull.headSha),
        commit: commitSha(commit),
        tree: treeSha('0'.repeat(40)),
        config: 'default',
      }
      const lease = await store.acquireLease(`land ${full}`, 60)
      if (lease === undefined) throw new Error('no lease')
      const intent = await store.beginLanding(lease, landing)
      if (intent === undefined) throw new Error('no intent')
      await store.endLanding(intent, 'landed')
      await store.releaseLease(lease)
      const { head, base: on, config: digest } = landing
      const verdict = {
        kind: 'merge',
        reasons: [],
        head,
        base: on,
        baseRef: 'main',
        config: digest,
        outcomes: [],
        waiting: [],
      }
      await store.recordVerdict({
        repository,
        pull: landing.pull,
        head,
        base: on,
        config: digest,
        verdict: 'merge',
        report: { verdict, changeLines: [], commandLines: [] },
        decidedAt: now,
      })
      return { pull, commit }
    },
    async run() {
      await publishCatalogs({ kind: 'publish', ...about }, place)
      await tellPulls()
    },
    tellPulls,
    preview: (pull) => publishPreview({ kind: 'preview', ...about, pull: pullNumber(pull) }, place),
    pass: (seconds) => void (now += seconds * 1000),
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
