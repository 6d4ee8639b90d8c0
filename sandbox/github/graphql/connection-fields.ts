// A GraphQL connection, limited to its first page.
import type { GraphqlFieldValues } from './execute-query.ts'

export const createConnectionFields =
  (nodes: readonly GraphqlFieldValues[]) =>
  ({ first = 100 }: GraphqlFieldValues): GraphqlFieldValues => ({
    totalCount: nodes.length,
    nodes: nodes.slice(0, Number(first)),
  })
