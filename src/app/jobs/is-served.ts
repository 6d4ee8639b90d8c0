// Which branches the bot works for: only the default branch, and those that its configuration names. Nobody picks a laxer
// base (T18), or has something published, by pushing a branch.
import { minimatch } from 'minimatch'
import { readConfig } from '../../examine/read-config.ts'
import type { JobContext } from './job-context.ts'

export async function isServed(branch: string, { forge, repository }: JobContext): Promise<boolean> {
  const main = await forge.defaultBranch()
  if (branch === main) return true
  await repository.fetch(main)
  const tip = await repository.tip(main)
  if (tip === undefined) return false
  const { config, findings } = await readConfig(repository, await repository.treeOf(tip))
  return findings.length === 0 && config.branches.some((glob) => minimatch(branch, glob))
}
