// A connection of GitHub's GraphQL, as far as a first page of it goes.
import type { GraphqlFields } from './execute-query.ts'

export const createConnectionFields =
  (nodes: readonly GraphqlFields[]) =>
  ({ first = 100 }: GraphqlFields): GraphqlFields => ({
    totalCount: nodes.length,
    nodes: nodes.slice(0, Number(first)),
  })
