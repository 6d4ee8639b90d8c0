// A request's cost, as far as its method and address tell.

/** GitHub's separate limits. */
export type RateLimitResource = 'core' | 'graphql' | 'search'

export interface RequestCost {
  readonly resource: RateLimitResource
  readonly isWrite: boolean
  /** Creates content that notifies people. */
  readonly createsContent: boolean
  /** Of the limit for a minute. */
  readonly points: number
  /** The App's token request, which doesn't count for an installation. */
  readonly isForToken: boolean
}

const pointsPerReadRequest = 1
const pointsPerWriteRequest = 5

const readOnlyHttpMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const accessTokenPathPattern = /\/app\/installations\/[^/]+\/access_tokens$/
const graphqlPathPattern = /\/graphql$/
const searchPathPattern = /^(?:\/api\/v3)?\/search\//
/** GitHub counts merging as notifying, too. */
const contentCreatingRequestPattern =
  /^POST .*\/(?:issues|pulls|comments|replies|reviews|requested_reviewers)$|^PUT .*\/merge$/

export function computeRequestCost(method: string, url: string, body: unknown): RequestCost {
  const { pathname } = new URL(url)
  const isGraphql = graphqlPathPattern.test(pathname)
  const isWrite = isGraphql ? isGraphqlMutation(body) : !readOnlyHttpMethods.has(method)
  return {
    resource: isGraphql ? 'graphql' : searchPathPattern.test(pathname) ? 'search' : 'core',
    isWrite,
    createsContent: !isGraphql && contentCreatingRequestPattern.test(`${method} ${pathname}`),
    points: isWrite ? pointsPerWriteRequest : pointsPerReadRequest,
    isForToken: method === 'POST' && accessTokenPathPattern.test(pathname),
  }
}

/** In doubt it is one and waits a second. */
function isGraphqlMutation(body: unknown): boolean {
  if (typeof body !== 'string') return true
  try {
    const { query } = JSON.parse(body) as { query?: unknown }
    return typeof query !== 'string' || /(?:^|\})\s*mutation\b/.test(query)
  } catch {
    return true
  }
}
