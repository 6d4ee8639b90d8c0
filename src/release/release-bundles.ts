// Opens a pull request for each merged bundle directory if its configuration allows it. Idempotent.
import { compareVersions, parseVersion } from '@catalog-bot/fbc/versions/version'
import type { Config } from '../config/config.ts'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { readConfig } from '../catalogs/read-config.ts'
import type { JobOfKind, JobQueue, LeaseStore } from '../ports/jobs.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { acquireAutoRenewingLease, toMergeLeaseName } from '../jobs/auto-renewing-lease.ts'
import { advanceRelease } from './advance-release.ts'
import { parseBundlePath } from '../pull-request/layout/layout.ts'
import { hasManifestsDirectory } from '../catalogs/read-bundle-files.ts'
import type { GitRepository } from '../ports/repository.ts'
import { releaseStateNamespace, type ReleaseState, type PendingRelease } from './open-release.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

interface MergedBundle {
  /** Below `operators/`. */
  readonly directory: string
  readonly version: string
  /** The newest commit of the branch that touched it. */
  readonly commit: CommitSha
}

/** A larger push fills a repository, where a pull request for each bundle would be noise. */
const maxMergedBundles = 50
/** Each costs a comparison of two trees. */
const maxComparedCommits = 300

type BundleReleaseRepository = Pick<
  GitRepository,
  'treeOf' | 'parentsOf' | 'contains' | 'firstParents' | 'diff' | 'list'
>

type BundleDirectoryId = Pick<MergedBundle, 'directory' | 'version'>

const releaseConfigPathPattern = /^operators\/([^/]+)\/([^/]+)\/release-config\.ya?ml$/

type ReleaseJob = JobOfKind<'release'>
type ReleaseJobContext = JobContext<StateStore & JobQueue & LeaseStore & MergeRecordStore>

/** Seconds until retry while another process holds the lease. */
const leaseRetrySeconds = 5
/** For each repository; the oldest are dropped. */
const maxPendingReleases = 500

export async function isReleaseJobNeeded(
  branch: string,
  tip: CommitSha,
  config: Config,
  { app, forge }: JobContext<StateStore>,
): Promise<boolean> {
  const state = await app.store.readState(releaseStateNamespace, forge.repository, branch)
  if (!config.bundles.release.enabled) return state !== undefined
  return (
    (state === undefined || state.seen !== tip || state.releasing.length > 0) &&
    branch === (await forge.defaultBranch())
  )
}

export async function releaseBundles(job: ReleaseJob, ctx: ReleaseJobContext): Promise<void> {
  const { app } = ctx
  const renewedLease = await acquireAutoRenewingLease(
    `${toMergeLeaseName(job.repository, job.branch)} release`,
    app,
  )
  if (renewedLease === undefined) return app.store.enqueue(job, leaseRetrySeconds)
  try {
    await advanceReleases(job, ctx)
  } finally {
    await renewedLease.release()
  }
}

async function advanceReleases(job: ReleaseJob, ctx: ReleaseJobContext): Promise<void> {
  const { app, forge, repository } = ctx
  const { store } = app
  if (job.branch !== (await forge.defaultBranch())) return
  await repository.fetch(job.branch)
  const tip = await repository.tip(job.branch)
  if (tip === undefined) return
  const tree = await repository.treeOf(tip)
  const { config, findings } = await readConfig(repository, tree)
  // Wait until the broken configuration is fixed.
  if (findings.length > 0) return
  if (!config.bundles.release.enabled) {
    // If enabled again, only later merges count.
    await store.retainState(releaseStateNamespace, forge.repository, [])
    return
  }
  const known = await store.readState(releaseStateNamespace, forge.repository, job.branch)
  const writeReleaseState = (state: ReleaseState) =>
    writeStateValue(store, releaseStateNamespace, forge.repository, job.branch, state)
  if (known === undefined) return writeReleaseState({ seen: tip, releasing: [] })
  let state = known
  if (state.seen !== tip) {
    state = await addMergedBundlesToReleaseState(state, tip, ctx)
    await writeReleaseState(state)
  }
  const base = { branch: job.branch, tip, tree }
  const failed: unknown[] = []
  for (const { directory, version } of state.releasing) {
    const isSameRelease = (one: PendingRelease) => one.directory === directory && one.version === version
    const at = state.releasing.findIndex(isSameRelease)
    const entry = state.releasing[at]
    if (entry === undefined) continue
    const saveRelease = async (next: PendingRelease | undefined) => {
      state = {
        ...state,
        releasing: state.releasing.flatMap((one) => (isSameRelease(one) ? (next ?? []) : one)),
      }
      await writeReleaseState(state)
    }
    // Problems of an earlier version are reported there.
    const isBehind = state.releasing
      .slice(0, at)
      .some((one) => one.directory === directory && one.told.length === 0)
    try {
      const next = await advanceRelease({ entry, config, base, isBehind, saveRelease }, ctx)
      if (next !== entry) await saveRelease(next)
    } catch (error) {
      // One bundle's failure must not block the others.
      failed.push(error)
    }
  }
  if (failed.length > 0) throw failed[0]
  const waiting = state.releasing.filter(({ image, seen }) => image === undefined || seen !== tip)
  if (waiting.length === 0) return
  const again = Math.min(...waiting.map((one) => one.again))
  await store.enqueue(job, Math.max(1, Math.ceil((again - app.clock.now()) / 1000)))
}

/** Adds what was merged to the branch since. */
async function addMergedBundlesToReleaseState(
  state: ReleaseState,
  tip: CommitSha,
  ctx: ReleaseJobContext,
): Promise<ReleaseState> {
  const { app, repository } = ctx
  const merged = await findMergedBundles(state.seen, tip, repository)
  if (merged === 'too-many') {
    app.log.warn(
      { from: state.seen, tip },
      'too many bundle directories were merged at the same time, so none of these bundles are released',
    )
    return { ...state, seen: tip }
  }
  const now = app.clock.now()
  const isSameBundle = (a: { directory: string; version: string }, b: typeof a) =>
    a.directory === b.directory && a.version === b.version
  const renewed = state.releasing.map((one): PendingRelease => {
    const again = merged.find((each) => isSameBundle(each, one))
    if (!again) return one
    const { seen: _, ...rest } = one
    return rest
  })
  const added = merged
    .filter((one) => !state.releasing.some((each) => isSameBundle(each, one)))
    .map((one): PendingRelease => ({ ...one, since: now, tries: 0, again: now, told: [] }))
  return {
    seen: tip,
    releasing: [...renewed, ...added].sort(compareReleasesByVersion).slice(-maxPendingReleases),
  }
}

/** By package, then version: each may replace the one before it. */
function compareReleasesByVersion(a: PendingRelease, b: PendingRelease): number {
  if (a.directory !== b.directory) return a.directory < b.directory ? -1 : 1
  const [one, other] = [parseVersion(a.version), parseVersion(b.version)]
  const order = one.ok && other.ok ? compareVersions(one.value, other.value) : 0
  return order === 0 ? (a.version < b.version ? -1 : 1) : order
}

/** Sorted by directory. `too-many`: more than `maxMergedBundles`. Rejects with a GitError. */
async function findMergedBundles(
  from: CommitSha,
  tip: CommitSha,
  repository: BundleReleaseRepository,
): Promise<readonly MergedBundle[] | 'too-many'> {
  // After a forced push the old tip may be unknown: treat everything as old.
  const before = await catchMissing(repository.treeOf(from), undefined)
  if (before === undefined) return []
  const found = await findChangedBundles(before, await repository.treeOf(tip), repository)
  if (found.size === 0) return []
  if (found.size > maxMergedBundles) return 'too-many'
  const isAhead = await catchMissing(repository.contains(tip, from), false)
  const commits = isAhead ? (await repository.firstParents(tip, from)).slice(0, maxComparedCommits) : []
  const open = new Map(found)
  const merged: MergedBundle[] = []
  for (const commit of commits) {
    if (open.size === 0) break
    const [parent] = await repository.parentsOf(commit)
    if (parent === undefined) break
    const paths = await repository.diff(await repository.treeOf(parent), await repository.treeOf(commit))
    for (const [root, bundle] of open)
      if (paths.some(({ path }) => path.startsWith(`${root}/`))) {
        merged.push({ ...bundle, commit })
        open.delete(root)
      }
  }
  for (const bundle of open.values()) merged.push({ ...bundle, commit: tip })
  return merged.sort((a, b) => (toBundleDirectoryKey(a) < toBundleDirectoryKey(b) ? -1 : 1))
}

/** By root, such as `operators/foo/1.2.3`. */
async function findChangedBundles(
  before: TreeSha,
  after: TreeSha,
  repository: BundleReleaseRepository,
): Promise<ReadonlyMap<string, BundleDirectoryId>> {
  const touched = new Map<string, BundleDirectoryId & { isConfigured: boolean }>()
  for (const { path, after: now } of await repository.diff(before, after)) {
    if (now === undefined) continue
    const [, directory, version] = releaseConfigPathPattern.exec(path) ?? []
    const location =
      directory !== undefined && version !== undefined ? { directory, version } : parseBundlePath(path)
    if (location === undefined) continue
    const root = `operators/${location.directory}/${location.version}`
    const isConfigured = directory !== undefined || touched.get(root)?.isConfigured === true
    touched.set(root, { directory: location.directory, version: location.version, isConfigured })
  }
  const found = new Map<string, BundleDirectoryId>()
  for (const [root, { directory, version, isConfigured }] of touched) {
    const isThere = async (tree: TreeSha) => hasManifestsDirectory(await repository.list(tree, root), root)
    if ((await isThere(after)) && (isConfigured || !(await isThere(before))))
      found.set(root, { directory, version })
    // Stop early instead of reading every directory of a mass import.
    if (found.size > maxMergedBundles) break
  }
  return found
}

const toBundleDirectoryKey = ({ directory, version }: BundleDirectoryId): string => `${directory}/${version}`
