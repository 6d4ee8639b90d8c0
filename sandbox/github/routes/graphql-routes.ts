// `POST /graphql`: the merge features that REST does not have. These are the merge queue, the rules of a ref for its
// caller, and atomic updates of several refs with compare-and-swap. Also shows who edited a comment.
import { executeQuery } from '../graphql/execute-query.ts'
import type { GraphqlResult } from '../graphql/execute-query.ts'
import { findCommentFields, findCommentListFields } from '../graphql/comment-fields.ts'
import { createMutationFields } from '../graphql/mutations.ts'
import { parseQuery } from '../graphql/parse-query.ts'
import { toRepositoryFields } from '../graphql/repository-fields.ts'
import type { GitHubState } from '../github-state.ts'
import { GitHubApiError, createNotFoundError, respondOk, defineRoute } from '../http/route.ts'
import type { RouteCall, Route } from '../http/route.ts'
import { canSeeRepository, formatCallerName } from '../http/auth.ts'
import { findRepositoryByName } from '../github-data.ts'

export function createGraphqlRoutes(state: GitHubState): Route[] {
  const respondToQuery = async ({ body, caller }: RouteCall): Promise<GraphqlResult> => {
    const { query = '', variables } = body as { query?: string; variables?: Record<string, unknown> }
    let operation
    try {
      operation = parseQuery(query, variables ?? {})
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { data: null, errors: [{ type: 'PARSE_ERROR', path: [], message }] }
    }
    if (operation.kind === 'mutation')
      return await executeQuery(createMutationFields(state, caller), operation.fields)
    const repository = ({ owner, name }: Record<string, unknown>): object => {
      const repo = findRepositoryByName(state.world, String(owner), String(name))
      if (repo === undefined || !canSeeRepository(state.world, caller, repo)) throw createNotFoundError()
      return toRepositoryFields(state, caller, repo)
    }
    const node = ({ id }: Record<string, unknown>): object => findCommentFields(state.world, caller, id)
    const nodes = ({ ids }: Record<string, unknown>): object =>
      findCommentListFields(state.world, caller, ids as unknown[])
    const viewer = (): object => {
      if (caller.kind === 'anonymous' || caller.kind === 'app')
        throw new GitHubApiError(401, 'Requires authentication')
      return { login: formatCallerName(caller) }
    }
    return await executeQuery({ repository, node, nodes, viewer }, operation.fields)
  }
  return [defineRoute('POST /graphql', {}, async (call) => respondOk(await respondToQuery(call)))]
}
