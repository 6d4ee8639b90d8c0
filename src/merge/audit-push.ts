// Audits pushes by other accounts, based on the resulting catalogs. Reports new problems once on the commit and in one
// issue for maintainers, and closes the issue once all problems are fixed.
import type { CommitSha } from '../pull-request/ids.ts'
import type { Config } from '../config/config.ts'
import { findCatalogErrors } from '../catalogs/catalog-loader.ts'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { ForgeError } from '../adapters/github/forge-error.ts'
import {
  renderBrokenBaseBranchCheck,
  renderFixedBaseBranchIssue,
  renderBrokenBaseBranchIssue,
  formatBrokenBaseBranchMarker,
  type BrokenCatalog,
} from '../report/base-branch-issues.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import { addCheckRunDigest } from '../jobs/publish-report.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { updateTrackedIssue } from '../jobs/tracked-issue.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

const maxReportedCatalogErrors = 5

export interface AuditedPush {
  readonly from: CommitSha
  readonly tip: CommitSha
  /** Catalogs that others' pushes had broken at `from`. */
  readonly broken: readonly BrokenCatalog[]
}

/**
 * Returns what other accounts' pushes broke at the new tip. Reads only changed catalogs, and nothing if catalog-bot
 * made all pushes and nothing was broken. Rejects with a GitError.
 */
export async function auditPush(
  { from, tip, broken }: AuditedPush,
  config: Config,
  ctx: JobContext<MergeRecordStore>,
): Promise<readonly BrokenCatalog[]> {
  const { app, repository } = ctx
  const validation = { repository, loader: app.loader, config }
  const newestNonBotCommit = await findNewestNonBotCommit(from, tip, ctx)
  if (newestNonBotCommit === undefined && broken.length === 0) return []
  const after = await repository.treeOf(tip)
  const before = await catchMissing(repository.treeOf(from), undefined)
  const roots = (
    await readRepositoryLayout(repository, await repository.list(after), config.catalogs)
  ).catalogs.map(({ root }) => root)
  const known = new Map(broken.map((one) => [one.root, one]))
  const result: BrokenCatalog[] = []
  for (const root of roots) {
    const was = known.get(root)
    if (newestNonBotCommit === undefined && was === undefined) continue
    const findings = await findCatalogErrors(after, root, validation)
    if (findings.length === 0) continue
    // Already broken, but not by a push that catalog-bot audited.
    if (
      was === undefined &&
      before !== undefined &&
      (await findCatalogErrors(before, root, validation)).length > 0
    )
      continue
    result.push({
      root,
      since: was?.since ?? newestNonBotCommit ?? tip,
      complaints: findings.slice(0, maxReportedCatalogErrors).map(formatFinding),
      more: Math.max(0, findings.length - maxReportedCatalogErrors),
    })
  }
  return result
}

async function findNewestNonBotCommit(
  from: CommitSha,
  tip: CommitSha,
  { app, repository, forge }: JobContext<MergeRecordStore>,
): Promise<CommitSha | undefined> {
  // After a forced push, the old tip may be unknown or no ancestor of the new one.
  const isAhead = await catchMissing(repository.contains(tip, from), false)
  const commits = isAhead ? await repository.firstParents(tip, from) : [tip]
  const ours = await app.store.findPullsOfCommits(forge.repository, commits, true)
  return commits.find((commit) => !ours.has(commit))
}

function formatFinding({ at, what, rule }: Finding): string {
  return `${at === undefined ? '' : `${at.file}:${at.line}: `}${what} (${rule})`
}

/** Idempotent. */
export async function reportBrokenCatalogs(
  branch: string,
  before: readonly BrokenCatalog[],
  now: readonly BrokenCatalog[],
  ctx: JobContext,
): Promise<void> {
  if (before.length === 0 && now.length === 0) return
  const { app, forge } = ctx
  try {
    for (const commit of new Set(now.map(({ since }) => since))) {
      const run = addCheckRunDigest(renderBrokenBaseBranchCheck(now.filter(({ since }) => since === commit)))
      const shown = (await forge.readOwnChecks(commit)).some(({ name }) => name === run.name)
      if (!shown) await forge.perform({ kind: 'put-check', head: commit, run })
    }
    const desired = now.length === 0 ? undefined : renderBrokenBaseBranchIssue(branch, now)
    await updateTrackedIssue(
      {
        marker: formatBrokenBaseBranchMarker(branch),
        desired,
        // An issue that a user closed remains closed until something else breaks.
        whenClosed: (shown) => (shown?.body === desired?.body ? 'nothing' : 'reopen'),
        solved: renderFixedBaseBranchIssue(branch),
      },
      forge,
    )
    if (desired) app.log.warn({ branch, catalogs: now.map(({ root }) => root) }, 'a push broke catalogs')
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, branch }, 'GitHub rejected the report that a push broke catalogs')
  }
}
