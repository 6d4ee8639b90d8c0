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

const readPoints = 1
const writePoints = 5

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const tokenPathPattern = /\/app\/installations\/[^/]+\/access_tokens$/
const graphqlPathPattern = /\/graphql$/
const searchPathPattern = /^(?:\/api\/v3)?\/search\//
/** GitHub counts merging as notifying, too. */
const contentCreatingPattern =
  /^POST .*\/(?:issues|pulls|comments|replies|reviews|requested_reviewers)$|^PUT .*\/merge$/

export function computeRequestCost(method: string, url: string, body: unknown): RequestCost {
  const { pathname } = new URL(url)
  const isGraphql = graphqlPathPattern.test(pathname)
  const isWrite = isGraphql ? isGraphqlMutation(body) : !readMethods.has(method)
  return {
    resource: isGraphql ? 'graphql' : searchPathPattern.test(pathname) ? 'search' : 'core',
    isWrite,
    createsContent: !isGraphql && contentCreatingPattern.test(`${method} ${pathname}`),
    points: isWrite ? writePoints : readPoints,
    isForToken: method === 'POST' && tokenPathPattern.test(pathname),
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
