// Every rule about the commits that a push carries. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { closesOtherPull } from './rules/closes-other-pull.ts'
import { mergesOtherPull } from './rules/lands-other-pull.ts'
import { oversizedFileInHistory } from './rules/oversized-file-in-history.ts'
import { tooManyCommits } from './rules/too-many-commits.ts'
import { unreadableCommit } from './rules/unreadable-commit.ts'
import { unsignedCommit } from './rules/unsigned-commit.ts'
import { workflowEditInHistory } from './rules/workflow-edit-in-history.ts'

/** The rules of ./rules, sorted by id. */
export const commitRules: readonly AnyFindingRule[] = [
  closesOtherPull,
  mergesOtherPull,
  oversizedFileInHistory,
  tooManyCommits,
  unreadableCommit,
  unsignedCommit,
  workflowEditInHistory,
]
