// What one request costs of GitHub's limits, as far as its method and address tell.

/** GitHub counts each of these by itself. */
export type Resource = 'core' | 'graphql' | 'search'

export interface RequestCost {
  readonly resource: Resource
  readonly isWrite: boolean
  /** Makes what people are notified of. */
  readonly createsContent: boolean
  /** Of the limit for a minute. */
  readonly points: number
  /** Asks for a token, as the App: that is none of an installation's requests. */
  readonly isForToken: boolean
}

const readPoints = 1
const writePoints = 5

const reads = new Set(['GET', 'HEAD', 'OPTIONS'])
const tokenPath = /\/app\/installations\/[^/]+\/access_tokens$/
const graphqlPath = /\/graphql$/
const searchPath = /^(?:\/api\/v3)?\/search\//
/** GitHub says of merging, too, that it notifies and may be limited so. */
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

/** In doubt it is one: it then waits a second. */
function isMutation(body: unknown): boolean {
  if (typeof body !== 'string') return true
  try {
    const { query } = JSON.parse(body) as { query?: unknown }
    return typeof query !== 'string' || /(?:^|\})\s*mutation\b/.test(query)
  } catch {
    return true
  }
}
