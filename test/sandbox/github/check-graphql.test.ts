// Proves that the GraphQL validator detects deviations from GitHub's schema, so that an empty result is meaningful.
import { describe, expect, test } from '@jest/globals'
import { checkGraphql } from './check-graphql.ts'

const sampleQuery = `query ($owner: String!, $head: GitObjectID!) {
  repository(owner: $owner, name: "operators") {
    object(oid: $head) { ... on Commit { oid } }
    pullRequest(number: 1) { title author { __typename login ... on User { databaseId } } }
  }
}`
const sampleVariables = { owner: 'coast', head: 'a'.repeat(40) }
const sampleData = {
  repository: {
    object: { oid: 'a'.repeat(40) },
    pullRequest: { title: 'x', author: { __typename: 'User', login: 'alice', databaseId: 1 } },
  },
}
const checkSample = (given: { query?: string; variables?: object; data?: unknown }) =>
  checkGraphql({
    requestBody: { query: given.query ?? sampleQuery, variables: given.variables ?? sampleVariables },
    responseBody: { data: given.data ?? sampleData },
  })

describe('the GraphQL validator', () => {
  test('accepts an exchange that matches the schema', () => {
    expect(checkSample({})).toEqual([])
    expect(checkSample({ data: { repository: null } })).toEqual([])
  })
  test.each([
    ['an unknown field', { query: sampleQuery.replace('title', 'heading') }, 'Cannot query field "heading"'],
    ['an unknown argument', { query: sampleQuery.replace('oid:', 'sha:') }, 'Unknown argument "sha"'],
    ['a missing variable', { variables: { owner: 'coast' } }, '$head'],
    [
      'a response value of the wrong type',
      { data: { repository: { ...sampleData.repository, pullRequest: 1 } } },
      'repository',
    ],
    [
      'null in a non-nullable field',
      { data: { repository: { ...sampleData.repository, pullRequest: { title: null, author: null } } } },
      'PullRequest.title',
    ],
  ])('reports %s', (_, given, words) => {
    expect(checkSample(given).join('\n')).toContain(words)
  })
})
