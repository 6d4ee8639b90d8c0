// A repository in the sandbox's GitHub whose catalogs are built from bundles, the release job on it, and a registry
// whose answers the test sets. Releases are computed in this process. The test controls the clock and can kill the job
// at any point.
import { join } from 'node:path'
import { releaseBundles, isReleaseJobNeeded } from '../../src/release/release-bundles.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { releaseStateNamespace } from '../../src/release/open-release.ts'
import type { BundleImageLookupResult, ImageLookupResult, LookupRequest } from '../../src/checks/lookups.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { computeRelease, UnsafeOverwriteError } from '../../src/release/worker/compute-release.ts'
import type { ReleaseRequest } from '../../src/release/worker/release-pool.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import { botBranchPrefix, type ForgeAction } from '../../src/ports/forge.ts'
import type { Job, Store } from '../../src/ports/store.ts'
import { runGitForText } from '../../sandbox/github/git/git-store.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { createBundleImageContent, releaseRepositoryFiles } from './worker/release-files.ts'
import type { GitHubFixture } from '../sandbox/github/github-fixture.ts'
import { realTimeClock as realClock } from '../adapters/store/sample-records.ts'
import type { FileTree } from '../checks/bundles/bundle-trees.ts'
import type { RegistryLookupResolver, RegistryLookupService } from '../../src/catalogs/registries.ts'
import { createTestAppServices, openRepositoryContext } from '../jobs/job-context.ts'

export const createReleaseConfig = (more = '') =>
  `bundles:\n  image: quay.io/foo/{package}:{version}\n  release:\n    enabled: true\n${more}`
export const botConfigPath = '.github/catalog-bot.yml'

export interface ReleaseScenario {
  readonly full: string
  readonly repo: ReturnType<GitHubFixture['github']['repository']>
  readonly enqueued: { readonly job: Job; readonly seconds: number }[]
  /** The registry's answers by reference. References without an answer are missing. */
  readonly images: Map<string, ImageLookupResult | BundleImageLookupResult>
  /** References that the registry was asked about. */
  readonly questions: string[]
  /** Puts the image of a version into the registry, built from its directory or from that of version `from`. */
  put(version: string, letter?: string, from?: string): void
  /** Merges a pull request with these files by an author other than the bot. */
  merge(files: FileTree, title?: string): Promise<MockPull>
  push(files: Readonly<Record<string, string | null>>, branch?: string): Promise<string>
  /** Runs the job. With `killAt` it dies after that many effects; a half means between an effect and its answer. */
  run(killAt?: number): Promise<'done' | 'killed'>
  readonly wants: () => Promise<boolean>
  advanceTime(seconds: number): void
  /** The bot's pull requests. */
  readonly botPulls: () => readonly MockPull[]
  readonly file: (ref: string, path: string) => Promise<string>
  readonly branches: () => readonly string[]
  readonly comments: (pull: MockPull) => readonly string[]
  close(): Promise<void>
}

let createdRepositoryCount = 0

class ProcessKilledError extends Error {}

export async function createReleaseScenario(
  it: GitHubFixture,
  app: GitHubApp,
  store: Store,
  directory: string,
  given: FileTree = {},
): Promise<ReleaseScenario> {
  const name = `released-${++createdRepositoryCount}`
  const full = `catalogs/${name}`
  await it.github.createRepository('catalogs', name, {
    files: { ...releaseRepositoryFiles, [botConfigPath]: createReleaseConfig(), ...given },
  })
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
  const { repository: mirror, forge } = context
  const enqueuedJobs: { job: Job; seconds: number }[] = []
  const images = new Map<string, ImageLookupResult | BundleImageLookupResult>()
  const questions: string[] = []
  const missing = { kind: 'missing', reason: 'the registry does not have it' } as const
  const effects = { left: Infinity }
  const half = () => {
    if (effects.left <= 0) throw new ProcessKilledError()
    effects.left -= 0.5
  }
  async function effect<T>(act: () => Promise<T>): Promise<T> {
    half()
    const done = await act()
    half()
    return done
  }
  const lookUp = async (reference: string) => {
    questions.push(reference)
    return images.get(reference) ?? missing
  }
  const ctx: JobContext<Store> = {
    ...context,
    forge: { ...forge, perform: (action: ForgeAction) => effect(() => forge.perform(action)) },
    app: createTestAppServices({
      store: {
        ...store,
        enqueue: async (job: Job, seconds = 0) => void enqueuedJobs.push({ job, seconds }),
        writeState: (...of: Parameters<Store['writeState']>) => effect(() => store.writeState(...of)),
      },
      registries: {
        forEvaluation: () =>
          ((question: LookupRequest) =>
            lookUp('reference' in question ? question.reference : '')) as RegistryLookupResolver,
        refreshImage: lookUp as RegistryLookupService['refreshImage'],
        close: async () => undefined,
      },
      releases: {
        computeRelease: async (order: ReleaseRequest) => {
          try {
            return await computeRelease(order, mirror)
          } catch (error) {
            if (error instanceof UnsafeOverwriteError) return { kind: 'refused', why: error.message }
            throw error
          }
        },
        close: async () => undefined,
      },
      clock: { ...realClock, now: () => now },
    }),
  }
  const repo = it.github.repository(full)
  const job = { kind: 'release', installation: it.installation.id, repository, branch: 'main' } as const
  const push = (changes: Readonly<Record<string, string | null>>, branch?: string) =>
    it.github.pushToBase(full, changes, branch === undefined ? {} : { branch })
  return {
    full,
    repo,
    enqueued: enqueuedJobs,
    images,
    questions,
    push,
    put(version, letter = version.replaceAll('.', '').slice(-1), from = version) {
      const digest = `sha256:${letter.repeat(64)}`
      images.set(`quay.io/foo/foo:${version}`, { kind: 'ok', digest })
      images.set(`quay.io/foo/foo@${digest}`, {
        kind: 'bundle',
        digest,
        content: createBundleImageContent(from),
        findings: [],
      })
    },
    async merge(changes, title = 'Add a version') {
      const pull = await it.github.openPull({ repository: full, author: 'alice', title, changes })
      const octokit = await app.octokit(it.installation.id)
      await octokit.rest.pulls.merge({ owner: 'catalogs', repo: name, pull_number: pull.number })
      return pull
    },
    async run(killAt) {
      effects.left = killAt ?? Infinity
      try {
        await releaseBundles(job, ctx)
        return 'done'
      } catch (error) {
        if (error instanceof ProcessKilledError) return 'killed'
        throw error
      } finally {
        effects.left = Infinity
      }
    },
    async wants() {
      await mirror.fetch('main')
      const tip = toCommitSha(String(await mirror.tip('main')))
      const enabled = { ...defaultConfig.bundles.release, enabled: true }
      const its = { ...defaultConfig, bundles: { ...defaultConfig.bundles, release: enabled } }
      return isReleaseJobNeeded('main', tip, its, ctx)
    },
    advanceTime: (seconds) => void (now += seconds * 1000),
    botPulls: () => [...repo.pulls.values()].filter(({ author }) => author.login === 'catalog-bot[bot]'),
    file: (ref, path) => runGitForText(repo.path, 'show', `${ref}:${path}`),
    branches: () =>
      [...repo.knownRefs.keys()].filter((ref) => ref.startsWith(`refs/heads/${botBranchPrefix}`)),
    comments: (pull) => pull.comments.map(({ body }) => body),
    async close() {
      await store.retainState(releaseStateNamespace, repository, [])
      await mirror.close()
    },
  }
}
