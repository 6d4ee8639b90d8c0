// The repository that a call of GitHub's is about, as Octokit's parameters name it.
export interface Target {
  readonly owner: string
  readonly repo: string
}
