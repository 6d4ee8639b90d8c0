// A connection of GitHub's GraphQL, as far as a first page of it goes.
import type { Fields } from './answer-query.ts'

export const listFields =
  (nodes: readonly Fields[]) =>
  ({ first = 100 }: Fields): Fields => ({ totalCount: nodes.length, nodes: nodes.slice(0, Number(first)) })
