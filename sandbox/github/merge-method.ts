/** How MockGitHub merges a pull request. */
export type MergeMethod = 'merge' | 'squash' | 'rebase'
