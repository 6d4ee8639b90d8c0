// Handles a push to a branch: requests publishing and releases, audits pushes by other accounts, rebuilds what changed,
// and records the catalogs for the pages, which never read Git.
import { z } from 'zod'
import type { CommitSha } from '../../pull-request/ids.ts'
import {
  isPathUnderDirectory,
  type CatalogRoot,
  findContainingCatalog,
} from '../../pull-request/layout/layout.ts'
import { readRepositoryLayout } from '../../catalogs/find-layout.ts'
import type { Config } from '../../config/config.ts'
import type { JobOfKind, JobQueue, LeaseStore } from '../../ports/jobs.ts'
import type { MergeRecordStore } from '../../ports/merge-records.ts'
import { type Cache, defineCacheNamespace } from '../../ports/cache.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'
import type { StateStore } from '../../ports/state.ts'
import { readConfig, readOwnership } from '../../catalogs/read-config.ts'
import { auditPush, reportBrokenCatalogs } from '../../merge/audit-push.ts'
import { isReleaseJobNeeded } from '../../release/release-bundles.ts'
import { readBranchState, writeBranchState } from '../../jobs/branch-state.ts'
import { type JobContext, isBranchManagedByBot } from '../../jobs/job-context.ts'
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { toMergeLeaseName } from '../../jobs/auto-renewing-lease.ts'
import { advanceRebuilds, queueRebuild } from '../../publish/rebuild.ts'
import { classifyPath } from '../../pull-request/layout/classify-path.ts'
import {
  createCatalogUrlSegments,
  toRecordedPackages,
  type RecordedCatalog,
  type RecordedPackage,
} from '../../pull-request/recorded-package.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { findOwnerFilePathsForPackages } from '../../checks/ownership/owner-files.ts'
import { formatPrincipal } from '../../checks/ownership/principals.ts'
import type { TreePathEntry } from '../../pull-request/change.ts'
import { isGitError } from '../../adapters/git/git-error.ts'

/** If lost, the catalogs are compared again. */
const lastRecordedBranchTipCache = defineCacheNamespace('recorded catalogs', 1, z.string())

const recordedBranchTipTtlSeconds = 7 * 24 * 3600
const maxRecordedCatalogs = 100
const maxRecordedPackages = 5000

type BranchJob = JobOfKind<'branch'>

export async function handlePush(
  job: BranchJob,
  ctx: JobContext<JobQueue & LeaseStore & StateStore & MergeRecordStore & Cache & StatusPageStore>,
): Promise<void> {
  await processBranchTip(job, ctx)
  await recordCatalogsForStatusPages(job.branch, ctx)
}

async function processBranchTip(
  job: BranchJob,
  ctx: JobContext<JobQueue & LeaseStore & StateStore & MergeRecordStore>,
): Promise<void> {
  const { app, repository } = ctx
  const name = `${toMergeLeaseName(job.repository, job.branch)} rebuild`
  const lease = await app.store.acquireLease(name, app.settings.leaseSeconds)
  if (lease === undefined) return app.store.enqueue(job, 2)
  try {
    await repository.fetch(job.branch)
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return
    let state = await readBranchState(job, ctx)
    const { config } = await readConfig(repository, await repository.treeOf(tip))
    // Publishing compares branches with images itself, so any change may matter to it.
    if (state?.seen !== tip || config.publish.length > 0)
      await app.store.enqueue({ kind: 'publish', installation: job.installation, repository: job.repository })
    if (await isReleaseJobNeeded(job.branch, tip, config, ctx))
      await app.store.enqueue({ ...job, kind: 'release' })
    if (state === undefined) return await writeBranchState(job, ctx, { seen: tip, rebuilds: [] })
    if (state.seen !== tip) {
      const { broken = [] } = state
      const now = await auditPush({ from: state.seen, tip, broken }, config, ctx)
      await reportBrokenCatalogs(job.branch, broken, now, ctx)
      state = { ...state, broken: now }
      state = await queueRebuild(state, tip, config, job.branch, ctx)
      await writeBranchState(job, ctx, state)
    }
    const pollSeconds = await advanceRebuilds(state, config, job, ctx)
    if (pollSeconds !== undefined) await app.store.enqueue(job, pollSeconds)
  } finally {
    await app.store.releaseLease(lease)
  }
}

/** For pages, which never read Git, from a served branch's tip. Read errors are logged: pages must not fail a job. */
async function recordCatalogsForStatusPages(
  branch: string,
  ctx: JobContext<Cache & StatusPageStore>,
): Promise<void> {
  const { app, forge, repository } = ctx
  if (app.settings.pages === 'off' || !(await isBranchManagedByBot(branch, ctx, { allowCached: true })))
    return
  // During a burst of merges, one record then covers several pushes.
  await app.scheduler.yieldToPulls()
  const tip = await repository.tip(branch)
  const key = `${toRepositoryKey(forge.repository)} ${branch}`
  if (tip === undefined || (await app.store.getCached(lastRecordedBranchTipCache, [key])).get(key) === tip)
    return
  try {
    await recordCatalogsAtCommit(branch, tip, ctx)
  } catch (error) {
    if (!isGitError(error)) throw error
    app.log.warn({ err: error, repository: forge.repository, branch }, 'the catalogs could not be recorded')
    return
  }
  await app.store.putCached(lastRecordedBranchTipCache, new Map([[key, tip]]), recordedBranchTipTtlSeconds)
}

async function recordCatalogsAtCommit(
  branch: string,
  tip: CommitSha,
  ctx: JobContext<StatusPageStore>,
): Promise<void> {
  const { app, forge, repository } = ctx
  const tree = await repository.treeOf(tip)
  const { config } = await readConfig(repository, tree)
  const entries = await repository.list(tree)
  const layout = await readRepositoryLayout(repository, entries, config.catalogs)
  const roots = layout.catalogs.slice(0, maxRecordedCatalogs)
  const keys = createCatalogUrlSegments(roots)
  const before = new Map((await app.store.listCatalogTotals(forge.repository)).map((row) => [row.key, row]))
  const owners = await buildPackageOwnerLookup(config, layout, entries, ctx)
  const recorded: { catalog: RecordedCatalog; packages?: readonly RecordedPackage[] | undefined }[] = []
  for (const [at, { root, version }] of roots.entries()) {
    const content = createHash('sha256').update(`${owners.digest}\n`)
    for (const { path, oid } of entries)
      if (isPathUnderDirectory(path, root)) content.update(`${path} ${oid}\n`)
    const catalog: RecordedCatalog = {
      key: keys[at] ?? root,
      root,
      branch,
      commit: tip,
      ...(version !== undefined && { version }),
      content: content.digest('hex'),
      recordedAt: app.clock.now(),
    }
    const known = before.get(catalog.key)
    const isKnown = known?.branch === branch && known.content === catalog.content
    recorded.push({ catalog, packages: isKnown ? undefined : await toPackageRows(root) })
  }
  await app.store.recordCatalogs(forge.repository, branch, recorded)

  async function toPackageRows(root: CatalogRoot['root']): Promise<readonly RecordedPackage[]> {
    const catalog = await app.loader.load(repository, tree, root)
    const packages: RecordedPackage[] = []
    if (catalog === undefined) return packages
    for (const one of toRecordedPackages(catalog, (name, file) => owners.of(name, file))) {
      packages.push(one)
      if (packages.length >= maxRecordedPackages) break
      // Yield so that deliveries are answered.
      await turn()
    }
    return packages
  }
}

async function buildPackageOwnerLookup(
  config: Config,
  layout: Parameters<typeof findContainingCatalog>[1],
  entries: readonly TreePathEntry[],
  { repository }: JobContext,
) {
  const directoryOf = (path: string): string => {
    const role = classifyPath(path, layout)
    return ('directory' in role ? role.directory : undefined) ?? ''
  }
  const spots = entries.flatMap(({ path }) => {
    const directory = findContainingCatalog(path, layout) === undefined ? '' : directoryOf(path)
    return directory === '' ? [] : [{ path, directory, package: directory }]
  })
  const authority = await readOwnership(repository, entries, config, spots)
  const paths = entries.map(({ path }) => path)
  const ownerFiles = new Set(findOwnerFilePathsForPackages(paths, spots))
  const digest = createHash('sha256').update(JSON.stringify(config.owners))
  for (const { path, oid, mode } of entries)
    if (ownerFiles.has(path) && mode.startsWith('100')) digest.update(`${path} ${oid}\n`)
  return {
    digest: digest.digest('hex'),
    of: (name: string, path: string): readonly string[] => [
      ...new Set(authority.ownersOf(path, directoryOf(path), name).map(formatPrincipal)),
    ],
  }
}
