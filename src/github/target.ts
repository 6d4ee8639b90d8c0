export interface Target {
  readonly owner: string
  readonly repo: string
}
