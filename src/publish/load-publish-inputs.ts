// Reads what a repository publishes from the default branch's configuration alone, so that pushing another branch
// cannot select an image or target.
import { minimatch } from 'minimatch'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import { readConfig } from '../catalogs/read-config.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { planPublications, type PublicationPlan } from './plan-publications.ts'

export interface BranchTip {
  readonly commit: CommitSha
  readonly tree: TreeSha
}

export interface PublishInputs {
  readonly plan: PublicationPlan
  readonly tips: ReadonlyMap<string, BranchTip>
}

/** Returns undefined if the configuration is unreadable. */
export async function loadPublishInputs({
  forge,
  repository,
  app,
}: JobContext): Promise<PublishInputs | undefined> {
  const main = await forge.defaultBranch()
  const tip = await readBranchTip(main, repository)
  if (tip === undefined) return undefined
  const { config, findings } = await readConfig(repository, tip.tree)
  if (findings.length > 0) {
    app.log.warn({ repository: forge.repository }, 'the configuration is invalid, so nothing is published')
    return undefined
  }
  if (config.publish.length === 0) return { plan: { publications: [], problems: [] }, tips: new Map() }
  const tips = new Map([[main, tip]])
  for (const { branch } of config.publish)
    if (
      branch !== undefined &&
      !tips.has(branch) &&
      config.branches.some((glob) => minimatch(branch, glob))
    ) {
      const branchTip = await readBranchTip(branch, repository)
      if (branchTip !== undefined) tips.set(branch, branchTip)
    }
  const layouts = new Map<string, RepositoryLayout>()
  for (const [branch, { tree }] of tips)
    layouts.set(branch, await readRepositoryLayout(repository, await repository.list(tree), config.catalogs))
  return { plan: planPublications(config.publish, main, layouts), tips }
}

export async function readBranchTip(
  branch: string,
  repository: JobContext['repository'],
): Promise<BranchTip | undefined> {
  await repository.fetch(branch)
  const commit = await repository.tip(branch)
  return commit === undefined ? undefined : { commit, tree: await repository.treeOf(commit) }
}
