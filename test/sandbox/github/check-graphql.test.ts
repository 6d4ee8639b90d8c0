// Proves that the GraphQL validator detects deviations from GitHub's schema, so that an empty result is meaningful.
import { describe, expect, test } from '@jest/globals'
import { validateGraphqlExchange } from './check-graphql.ts'

const sampleGraphqlQuery = `query ($owner: String!, $head: GitObjectID!) {
  repository(owner: $owner, name: "operators") {
    object(oid: $head) { ... on Commit { oid } }
    pullRequest(number: 1) { title author { __typename login ... on User { databaseId } } }
  }
}`
const sampleGraphqlVariables = { owner: 'coast', head: 'a'.repeat(40) }
const sampleGraphqlData = {
  repository: {
    object: { oid: 'a'.repeat(40) },
    pullRequest: { title: 'x', author: { __typename: 'User', login: 'alice', databaseId: 1 } },
  },
}
const validateSampleGraphqlExchange = (given: { query?: string; variables?: object; data?: unknown }) =>
  validateGraphqlExchange({
    requestBody: {
      query: given.query ?? sampleGraphqlQuery,
      variables: given.variables ?? sampleGraphqlVariables,
    },
    responseBody: { data: given.data ?? sampleGraphqlData },
  })

describe('the GraphQL validator', () => {
  test('accepts an exchange that matches the schema', () => {
    expect(validateSampleGraphqlExchange({})).toEqual([])
    expect(validateSampleGraphqlExchange({ data: { repository: null } })).toEqual([])
  })
  test.each([
    [
      'an unknown field',
      { query: sampleGraphqlQuery.replace('title', 'heading') },
      'Cannot query field "heading"',
    ],
    ['an unknown argument', { query: sampleGraphqlQuery.replace('oid:', 'sha:') }, 'Unknown argument "sha"'],
    ['a missing variable', { variables: { owner: 'coast' } }, '$head'],
    [
      'a response value of the wrong type',
      { data: { repository: { ...sampleGraphqlData.repository, pullRequest: 1 } } },
      'repository',
    ],
    [
      'null in a non-nullable field',
      {
        data: { repository: { ...sampleGraphqlData.repository, pullRequest: { title: null, author: null } } },
      },
      'PullRequest.title',
    ],
  ])('reports %s', (_, given, expected) => {
    expect(validateSampleGraphqlExchange(given).join('\n')).toContain(expected)
  })
})
