// What a request to `/graphql` does, for whoever counts requests: the name of its operation, and how many changes it makes.
import { parseQuery } from './parse-query.ts'

export interface GraphqlOperationSummary {
  /** As its client calls it. */
  readonly operation: string
  /** Mutations: each is a write, however many of them come in one request. */
  readonly writes: number
}

export function summarizeOperation(body: unknown): GraphqlOperationSummary {
  const query = typeof body === 'object' && body !== null && 'query' in body ? String(body.query) : ''
  const [, operation = 'unnamed'] = /^\s*(?:query|mutation)\s+(\w+)/.exec(query) ?? []
  try {
    const { kind, fields } = parseQuery(query)
    return { operation, writes: kind === 'mutation' ? fields.length : 0 }
  } catch {
    return { operation, writes: 0 }
  }
}
