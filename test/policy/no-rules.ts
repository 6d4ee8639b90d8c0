// A branch without rules.
import type { BranchRules } from '../../src/policy/branch-rules.ts'

export const unrestrictedBranchRules: BranchRules = {
  branch: 'main',
  owner: 'organization',
  checks: { required: [], strict: false },
  closedToUs: false,
  closedToPushes: false,
  reservedForUs: false,
  locked: false,
  linearHistory: false,
  signatures: false,
  mergeQueue: false,
  workflows: false,
  others: [],
  mergeMethods: ['merge', 'squash', 'rebase'],
  temporaryBranch: [],
  unread: [],
}
