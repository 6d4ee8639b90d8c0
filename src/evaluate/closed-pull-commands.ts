// Decides the few commands that people give on a merged or closed pull request. Rights are read from the base.
import { selectOwnerFilesToRead } from '../checks/ownership/ownership.ts'
import type { CheckInput } from '../checks/check.ts'
import { collectCommandQuestions, decideCommands, type CommandDecision } from '../policy/commands.ts'
import type { EvaluateOptions } from './evaluate-options.ts'
import { gatherAnswers } from '../catalogs/gather-answers.ts'
import { readOwnerFiles } from './read-check-input.ts'
import type { BaseBranchState } from './load-base.ts'

/** Rejects with a GitError or StoreError. */
export async function decideClosedPullCommands(
  { snapshot, baseTree, basePaths, baseLayout, config, configDigest, epoch, onRecord }: BaseBranchState,
  { ask, memory, repository }: EvaluateOptions,
): Promise<readonly CommandDecision[]> {
  const change = { paths: [], catalogs: [], references: [] }
  const base = { base: baseTree, result: baseTree }
  const check: CheckInput = {
    accounts: await memory.firstSeenAccounts(snapshot.repository, new Map()),
    snapshot,
    config,
    configDigest,
    epoch,
    layout: baseLayout,
    change,
    basePaths,
    ownerFiles: await readOwnerFiles(repository, base, selectOwnerFilesToRead(basePaths, change)),
    approvals: [],
  }
  const recent = await memory.recentCommands?.(snapshot.repository)
  const input = { check, shown: [], change: '', records: onRecord, ...(recent && { recent }) }
  const answers = await gatherAnswers(
    [{ ask: (_input, known) => collectCommandQuestions(input, known) }],
    check,
    ask,
  )
  return decideCommands(input, answers).decisions
}
