export interface RepositoryParams {
  readonly owner: string
  readonly repo: string
}
