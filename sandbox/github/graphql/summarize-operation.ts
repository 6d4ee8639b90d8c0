// Summarizes a request to `/graphql` for request counters: the name of its operation, and the number of changes.
import { parseQuery } from './parse-query.ts'

export interface GraphqlOperationSummary {
  /** The name that the client gave it. */
  readonly operation: string
  /** The number of mutations. Each one is a write, even if one request contains several. */
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
