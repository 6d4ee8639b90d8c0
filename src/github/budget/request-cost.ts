// A request's cost, as far as its method and address tell.

/** GitHub's separate limits. */
export type Resource = 'core' | 'graphql' | 'search'

export interface RequestCost {
  readonly resource: Resource
  readonly isWrite: boolean
  /** Creates content that notifies people. */
  readonly createsContent: boolean
  /** Of the limit for a minute. */
  readonly points: number
  /** The App's token request, which doesn't count for an installation. */
  readonly isForToken: boolean
}

const readPoints = 1
const writePoints = 5

const reads = new Set(['GET', 'HEAD', 'OPTIONS'])
const tokenPath = /\/app\/installations\/[^/]+\/access_tokens$/
const graphqlPath = /\/graphql$/
const searchPath = /^(?:\/api\/v3)?\/search\//
/** GitHub counts merging as notifying, too. */
const creating = /^POST .*\/(?:issues|pulls|comments|replies|reviews|requested_reviewers)$|^PUT .*\/merge$/

export function costOf(method: string, url: string, body: unknown): RequestCost {
  const { pathname } = new URL(url)
  const isGraphql = graphqlPath.test(pathname)
  const isWrite = isGraphql ? isMutation(body) : !reads.has(method)
  return {
    resource: isGraphql ? 'graphql' : searchPath.test(pathname) ? 'search' : 'core',
    isWrite,
    createsContent: !isGraphql && creating.test(`${method} ${pathname}`),
    points: isWrite ? writePoints : readPoints,
    isForToken: method === 'POST' && tokenPath.test(pathname),
  }
}

/** In doubt it is one and waits a second. */
function isMutation(body: unknown): boolean {
  if (typeof body !== 'string') return true
  try {
    const { query } = JSON.parse(body) as { query?: unknown }
    return typeof query !== 'string' || /(?:^|\})\s*mutation\b/.test(query)
  } catch {
    return true
  }
}
