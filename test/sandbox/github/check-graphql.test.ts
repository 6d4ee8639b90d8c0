// What goes over GraphQL is held against GitHub's schema: a validator that finds nothing finds nothing for a reason.
import { describe, expect, test } from '@jest/globals'
import { checkGraphql } from './check-graphql.ts'

const query = `query ($owner: String!, $head: GitObjectID!) {
  repository(owner: $owner, name: "operators") {
    object(oid: $head) { ... on Commit { oid } }
    pullRequest(number: 1) { title author { __typename login ... on User { databaseId } } }
  }
}`
const variables = { owner: 'coast', head: 'a'.repeat(40) }
const data = {
  repository: {
    object: { oid: 'a'.repeat(40) },
    pullRequest: { title: 'x', author: { __typename: 'User', login: 'alice', databaseId: 1 } },
  },
}
const check = (given: { query?: string; variables?: object; data?: unknown }) =>
  checkGraphql({
    requestBody: { query: given.query ?? query, variables: given.variables ?? variables },
    responseBody: { data: given.data ?? data },
  })

describe('GraphQL', () => {
  test('as GitHub has it is fine', () => {
    expect(check({})).toEqual([])
    expect(check({ data: { repository: null } })).toEqual([])
  })
  test.each([
    ['a field', { query: query.replace('title', 'heading') }, 'Cannot query field "heading"'],
    ['an argument', { query: query.replace('oid:', 'sha:') }, 'Unknown argument "sha"'],
    ['a variable', { variables: { owner: 'coast' } }, '$head'],
    ['a type of an answer', { data: { repository: { ...data.repository, pullRequest: 1 } } }, 'repository'],
    [
      'null where there is something',
      { data: { repository: { ...data.repository, pullRequest: { title: null, author: null } } } },
      'PullRequest.title',
    ],
  ])('%s that it does not have is told', (_, given, words) => {
    expect(check(given).join('\n')).toContain(words)
  })
})
