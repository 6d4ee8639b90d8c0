// A GraphQL connection, limited to its first page.
import type { GraphqlFields } from './execute-query.ts'

export const createConnectionFields =
  (nodes: readonly GraphqlFields[]) =>
  ({ first = 100 }: GraphqlFields): GraphqlFields => ({
    totalCount: nodes.length,
    nodes: nodes.slice(0, Number(first)),
  })
