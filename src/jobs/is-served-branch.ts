// The bot serves only the default branch and the branches its configuration names, so that pushing a branch cannot
// select a weaker policy or publish anything.
import { minimatch } from 'minimatch'
import { readConfig } from '../catalogs/read-config.ts'
import type { JobContext } from './job-context.ts'

/** `allowCached` accepts a default branch cached for a minute; merging, publishing and signing must read it again. */
export async function isBranchServedByBot(
  branch: string,
  { forge, repository }: JobContext,
  options: { readonly allowCached?: boolean } = {},
): Promise<boolean> {
  const main = await forge.defaultBranch(options)
  if (branch === main) return true
  await repository.fetch(main)
  const tip = await repository.tip(main)
  if (tip === undefined) return false
  const { config, findings } = await readConfig(repository, await repository.treeOf(tip))
  return findings.length === 0 && config.branches.some((glob) => minimatch(branch, glob))
}
