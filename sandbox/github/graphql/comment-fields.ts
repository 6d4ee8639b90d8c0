// The edits of a comment in GraphQL. Fields and types come from GitHub's public schema:
// https://docs.github.com/en/graphql/reference/objects#issuecomment
import { canSeeRepository } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { GitHubApiError } from '../http/route.ts'
import { parseNodeId, toNodeId } from '../views/account-view.ts'
import type { IssueComment, MockGitHubData } from '../github-data.ts'
import type { GraphqlFieldValues } from './execute-query.ts'

/** The comment with this global ID. Throws GitHub's error if there is no such comment that the caller can see. */
export function findCommentFieldsByNodeId(
  state: MockGitHubData,
  caller: ApiCaller,
  id: unknown,
): GraphqlFieldValues {
  const comment = listVisibleComments(state, caller).find((it) => toNodeId('IssueComment', it.id) === id)
  if (comment === undefined)
    throw new GitHubApiError(404, `Could not resolve to a node with the global id of '${String(id)}'`)
  const { edit } = comment
  return {
    __typename: 'IssueComment',
    id: toNodeId('IssueComment', comment.id),
    lastEditedAt: edit?.at ?? null,
    // The first edit also stores the original version.
    includesCreatedEdit: edit !== undefined,
    editor:
      edit === undefined || edit.by.deleted
        ? null
        : // GraphQL shows an App's name without the `[bot]` suffix of REST.
          { __typename: edit.by.type, login: edit.by.login.replace(/\[bot\]$/, '') },
  }
}

/**
 * The `nodes` of these global IDs. Null if there is no such node that the caller can see. Like GitHub, accepts at
 * most 100 IDs.
 */
export function findCommentFieldsByNodeIds(
  state: MockGitHubData,
  caller: ApiCaller,
  ids: readonly unknown[],
): (GraphqlFieldValues | null)[] {
  if (ids.length > 100)
    throw new GitHubApiError(422, `You may not provide more than 100 node ids; you provided ${ids.length}.`)
  const known = new Set<unknown>(listVisibleComments(state, caller).map((it) => String(it.id)))
  return ids.map((id) =>
    known.has(parseNodeId('IssueComment', id)) ? { __typename: 'IssueComment', id } : null,
  )
}

function listVisibleComments(state: MockGitHubData, caller: ApiCaller): IssueComment[] {
  if (caller.kind === 'anonymous') return []
  return [...state.repos]
    .filter((repo) => !repo.deleted && canSeeRepository(caller, repo))
    .flatMap((repo) => [...repo.pulls.values(), ...repo.issues.values()].flatMap((it) => it.comments))
}
