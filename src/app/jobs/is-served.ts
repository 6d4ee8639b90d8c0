// Which branches the bot works for: only the default branch, and those that its configuration names. Nobody picks a laxer
// base (T18), or has something published, by pushing a branch.
import { minimatch } from 'minimatch'
import { readConfig } from '../../examine/read-config.ts'
import type { JobContext } from './job-context.ts'

/** `kept`: a look may go by what was the default branch a minute ago; what lands, publishes or signs asks anew. */
export async function isServed(
  branch: string,
  { forge, repository }: JobContext,
  options: { readonly kept?: boolean } = {},
): Promise<boolean> {
  const main = await forge.defaultBranch(options)
  if (branch === main) return true
  await repository.fetch(main)
  const tip = await repository.tip(main)
  if (tip === undefined) return false
  const { config, findings } = await readConfig(repository, await repository.treeOf(tip))
  return findings.length === 0 && config.branches.some((glob) => minimatch(branch, glob))
}
