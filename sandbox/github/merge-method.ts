/** How GitHub merges a pull request. */
export type MergeMethod = 'merge' | 'squash' | 'rebase'
